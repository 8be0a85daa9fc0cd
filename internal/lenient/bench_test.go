package lenient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// longString is a call's arguments with one 64 KB string of source code.
func longString() []byte {
	code := strings.Repeat("func f(a, b int) string {\n\tif a < b { return \"x\\\\y\" }\n\treturn fmt.Sprint(a, b)\n}\n", 1000)
	b, _ := json.Marshal(map[string]any{"path": "main.go", "content": code[:64<<10]})
	return b
}

// manyMembers is 64 KB of small members.
func manyMembers() []byte {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := 0; b.Len() < 64<<10; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"item %d","price":%d.25,"tags":["a","b"],"active":true,"parent":null}`, i, i, i)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkRead(b *testing.B) {
	for _, in := range []struct {
		name string
		text []byte
	}{{"long_string", longString()}, {"many_members", manyMembers()}} {
		b.Run(in.name+"/lenient", func(b *testing.B) {
			b.SetBytes(int64(len(in.text)))
			b.ReportAllocs()
			text := string(in.text)
			for b.Loop() {
				r := NewReader(NewText(text), Options{})
				if _, err := r.Value(); err != nil || r.Fixes.Any() {
					b.Fatal(err, r.Fixes.Names())
				}
			}
		})
		b.Run(in.name+"/encoding_json", func(b *testing.B) {
			b.SetBytes(int64(len(in.text)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(in.text, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
