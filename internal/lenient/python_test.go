package lenient

import "testing"

func TestPython(t *testing.T) {
	tests := []struct{ text, want string }{
		{`'it\'s'`, `"it's"`},
		{`r"\d+"`, `"\\d+" string_prefix`},
		{`"a" 'b'`, `"ab" concatenation`},
		{`(1, 2)`, `[1,2]`},
		{`{'a': (1, None)}`, `{"a":[1,null]}`},
		{`"""x "y" z"""`, `"x \"y\" z" triple_quotes`},
		{`-2.5e3`, `-2.5e3`},
	}
	for _, tt := range tests {
		got := read(t, tt.text, Options{Python: true})
		if got != tt.want {
			t.Errorf("%s is read as %s, not %s", tt.text, got, tt.want)
		}
	}
}
