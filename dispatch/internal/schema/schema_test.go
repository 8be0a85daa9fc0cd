package schema

import (
	"encoding/json"
	"flag"
	"math/big"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"pgregory.net/rapid"

	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

var update = flag.Bool("update", false, "write the golden files")

type Base struct {
	ID   string `json:"id"`
	Note string `json:"note,omitempty" jsonschema_description:"a note, if there is one"`
}

type Tree struct {
	Name     string           `json:"name"`
	Children []*Tree          `json:"children,omitempty"`
	Index    map[string]*Tree `json:"index,omitempty"`
}

type Level string

func (Level) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"low", "high"}}
}

// Awkward has all that is awkward in Go types.
type Awkward struct {
	Base
	Width    float64            `json:"width,omitempty" jsonschema:"default=100,minimum=1" jsonschema_description:"in pixels, at least 1"`
	Count    int                `json:"count" jsonschema:"maximum=5,description=how many"`
	Small    uint8              `json:"small"`
	Unsigned uint               `json:"unsigned,omitempty"`
	Short    int16              `json:"short,omitempty" jsonschema:"minimum=-5"`
	Color    string             `json:"color,omitempty" jsonschema:"enum=red,enum=green,default=red"`
	Pattern  string             `json:"pattern,omitempty" jsonschema:"pattern=^[a-z]{1\\,3}$"`
	Layer    string             `json:"layer" jsonschema_extras:"x-context=selection.0"`
	Tags     []string           `json:"tags,omitempty" jsonschema:"minItems=1,enum=a,enum=b"`
	Sizes    []int              `json:"sizes,omitempty" jsonschema:"default=1,default=2"`
	Flags    []bool             `json:"flags,omitempty" jsonschema:"default=true"`
	On       bool               `json:"on,omitempty" jsonschema:"default=true"`
	Null     *int               `json:"null"`
	NullObj  *Base              `json:"null_object" jsonschema_description:"may be null"`
	Maybe    *string            `json:"maybe,omitempty"`
	Tree     Tree               `json:"tree"`
	Level    Level              `json:"level,omitempty"`
	Wait     time.Duration      `json:"wait,omitempty" jsonschema:"default=1m30s"`
	At       time.Time          `json:"at,omitzero"`
	Link     url.URL            `json:"link,omitzero"`
	Address  netip.Addr         `json:"address,omitzero"`
	Exact    json.Number        `json:"exact,omitempty"`
	Big      *big.Int           `json:"big,omitempty"`
	Raw      json.RawMessage    `json:"raw,omitempty"`
	Any      any                `json:"any,omitempty"`
	Bytes    []byte             `json:"bytes,omitempty"`
	Pair     [2]int             `json:"pair,omitempty"`
	ByNumber map[int]string     `json:"by_number,omitempty"`
	Scores   map[string]float32 `json:"scores,omitempty"`
	Quoted   int64              `json:"quoted,omitempty,string"`
	NoTag    string
	Hidden   string `json:"-"`
	private  string
}

func TestGolden(t *testing.T) {
	_ = Awkward{}.private
	for name, typ := range map[string]reflect.Type{
		"awkward": reflect.TypeFor[Awkward](), "tree": reflect.TypeFor[*Tree](), "empty": reflect.TypeFor[struct{}](),
		"map": reflect.TypeFor[map[string]int](), "any": reflect.TypeFor[map[string]any](),
	} {
		m, err := Of(typ)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name + ".json"
		if *update {
			if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
			t.Errorf("%s: go test ./dispatch/internal/schema -update writes it\n%s", name, diff)
		}
		if _, err := registry.NewWith(registry.Options{Strict: true}, registry.Tool{Name: "x", Parameters: m}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRoundTrip holds that what encoding/json writes of a value fits its type's schema
// unchanged, and decodes to the same value.
func TestRoundTrip(t *testing.T) {
	n, text := 7, "x"
	link, err := url.Parse("https://example.com/a?b=c")
	if err != nil {
		t.Fatal(err)
	}
	in := Awkward{
		Base: Base{ID: "i"}, Width: 2.5, Count: 3, Small: 255, Color: "green", Pattern: "abc", Layer: "l", Tags: []string{"a"}, Sizes: []int{3},
		Flags: []bool{false}, On: true, Null: &n, NullObj: &Base{ID: "j", Note: "n"}, Maybe: &text, Level: "high",
		Tree: Tree{Name: "r", Children: []*Tree{{Name: "c"}}, Index: map[string]*Tree{"c": {Name: "d"}}},
		At:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Address: netip.MustParseAddr("::1"), Exact: "12.50",
		Big: new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil), Raw: json.RawMessage(`{"a":1}`),
		Any: map[string]any{"n": json.Number("9007199254740993"), "list": []any{"x", nil, true}}, Bytes: []byte("hi"), Pair: [2]int{1, 2},
		ByNumber: map[int]string{1: "one"}, Scores: map[string]float32{"a": 0.5}, Quoted: 1 << 62, NoTag: "y", Unsigned: 1 << 63, Short: -5,
	}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var parameters map[string]any
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	if err := dec.Decode(&parameters); err != nil {
		t.Fatal(err)
	}
	// These two have a form of their own here.
	in.Wait, parameters["wait"] = 90*time.Second, "1m30s"
	in.Link, parameters["link"] = *link, link.String()
	schema, err := Of(reflect.TypeFor[Awkward]())
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(registry.Tool{Name: "x", Parameters: schema})
	if err != nil {
		t.Fatal(err)
	}
	v := validator.Validate(r.Get("x"), parameters, validator.Options{})
	if len(v.Errors)+len(v.Coercions)+len(v.Defaults) > 0 {
		t.Fatalf("%v %v %v", v.Errors, v.Coercions, v.Defaults)
	}
	data, err = json.Marshal(v.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	var out Awkward
	if err := NewDecoder(reflect.TypeFor[Awkward]()).Decode(data, &out); err != nil {
		t.Fatal(err)
	}
	equal := cmp.Options{
		cmp.AllowUnexported(Awkward{}), cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 }),
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b url.URL) bool { return a.String() == b.String() }),
	}
	if diff := cmp.Diff(in, out, equal); diff != "" {
		t.Error(diff)
	}
}

// TestDefaults holds that the defaults of tags fit what they are defaults of.
func TestDefaults(t *testing.T) {
	schema, err := Of(reflect.TypeFor[Awkward]())
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(registry.Tool{Name: "x", Parameters: schema})
	if err != nil {
		t.Fatal(err)
	}
	v := validator.Validate(r.Get("x"), map[string]any{}, validator.Options{})
	data, err := json.Marshal(v.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"color":"red","flags":[true],"on":true,"sizes":[1,2],"wait":"1m30s","width":100}`; string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
}

// TestExactCase holds that members are matched in their exact case, whatever the type.
func TestExactCase(t *testing.T) {
	type plainIn struct {
		Name string `json:"name"`
	}
	type anyIn struct {
		Name string `json:"name"`
		More any    `json:"more"`
	}
	var p plainIn
	var a anyIn
	data := []byte(`{"name":"safe","NAME":"rm"}`)
	if err := NewDecoder(reflect.TypeOf(p)).Decode(data, &p); err != nil || p.Name != "safe" {
		t.Error(p, err)
	}
	if err := NewDecoder(reflect.TypeOf(a)).Decode(data, &a); err != nil || a.Name != "safe" {
		t.Error(a, err)
	}
}

type EmbedsItself struct {
	*EmbedsItself
	A int
}

func TestErrors(t *testing.T) {
	for want, typ := range map[string]reflect.Type{
		"no struct and no map": reflect.TypeFor[string](),
		"is no struct":         reflect.TypeFor[[]int](),
		"time.Time is no":      reflect.TypeFor[time.Time](),
		".F: a func has no JSON form": reflect.TypeFor[struct {
			F func()
		}](),
		".C[]: a chan has no JSON form": reflect.TypeFor[struct {
			C []chan int
		}](),
		".I: the interface":                        reflect.TypeFor[struct{ I error }](),
		"a map's keys must be strings or integers": reflect.TypeFor[map[float64]int](),
		"embedded more than 16 deep":               reflect.TypeFor[EmbedsItself](),
		`two members are named "id"`: reflect.TypeFor[struct {
			Base
			B int `json:"id"`
		}](),
		`ends its description at a comma, before " or none": write it into the tag jsonschema_description`: reflect.TypeFor[struct {
			A int `jsonschema:"description=one, or none"`
		}](),
		`has no keyword "requird"`: reflect.TypeFor[struct {
			A int `jsonschema:"requird"`
		}](),
		`"minimun" does nothing for a integer`: reflect.TypeFor[struct {
			A int `jsonschema:"minimun=1"`
		}](),
		`"minimum" does nothing for a string`: reflect.TypeFor[struct {
			A string `jsonschema:"minimum=1"`
		}](),
		`"default" does nothing for a object`: reflect.TypeFor[struct {
			A struct{} `jsonschema:"default=1"`
		}](),
		"default=x is no value for a integer": reflect.TypeFor[struct {
			A int `jsonschema:"default=x"`
		}](),
		"default=1 is no value for a boolean": reflect.TypeFor[struct {
			A bool `jsonschema:"default=1"`
		}](),
		"minItems=-1 is no value": reflect.TypeFor[struct {
			A []int `jsonschema:"minItems=-1"`
		}](),
	} {
		m, err := Of(typ)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q (%v)", typ, err, want, m)
		}
	}
}

type Plain struct {
	A string   `json:"a"`
	B int8     `json:"b"`
	C uint     `json:"c,omitempty"`
	D float64  `json:"d"`
	E []string `json:"e"`
	F *Inner   `json:"f"`
	G [][]int  `json:"g"`
	H bool
	I Inner `json:"i"`
	J Word  `json:"j"`
}

type (
	Inner struct {
		X float64 `json:"x"`
		Y *int    `json:"y"`
	}
	Word string
)

// TestAssign holds that putting values into fields does what decoding JSON does: with
// what fits and what does not.
func TestAssign(t *testing.T) {
	d := NewDecoder(reflect.TypeFor[Plain]())
	if d.assign == nil {
		t.Fatal("the type is not plain")
	}
	value := func() *rapid.Generator[any] {
		scalar := rapid.OneOf(
			rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.SampledFrom([]string{"0", "1", "-1", "127", "128", "1.5", "1e2", "9007199254740993", "18446744073709551615", "1e400"}),
				func(s string) any { return json.Number(s) }),
		)
		list := rapid.Map(rapid.SliceOfN(scalar, 0, 3), func(l []any) any { return l })
		object := rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"x", "y", "z", "X"}), scalar, 0, 4), func(m map[string]any) any { return m })
		return rapid.OneOf(scalar, scalar, list, object, rapid.Map(rapid.SliceOfN(list, 0, 2), func(l []any) any { return l }))
	}()
	assigned := 0
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "H", "i", "j", "A", "h", "k"}), value, 0, 6).Draw(t, "m")
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var one, other Plain
		if !d.Assign(m, &one) {
			if !reflect.ValueOf(one).IsZero() {
				t.Fatalf("%s: half of it is there: %+v", data, one)
			}
			return
		}
		assigned++
		if err := d.Decode(data, &other); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if diff := cmp.Diff(other, one); diff != "" {
			t.Fatalf("%s: %s", data, diff)
		}
	})
	if assigned == 0 {
		t.Error("nothing was assigned")
	}
	for _, not := range []reflect.Type{reflect.TypeFor[Awkward](), reflect.TypeFor[Tree](), reflect.TypeFor[struct{ Base }]()} {
		if NewDecoder(not).assign != nil {
			t.Errorf("%v is not plain", not)
		}
	}
}

func BenchmarkAssign(b *testing.B) {
	type rectangle struct {
		X, Y, Width, Height float64
		Fill                string
	}
	d := NewDecoder(reflect.TypeFor[rectangle]())
	data := map[string]any{"X": json.Number("10"), "Y": json.Number("20.5"), "Width": json.Number("100"), "Height": json.Number("50"), "Fill": "#fff"}
	b.ReportAllocs()
	for b.Loop() {
		var r rectangle
		if !d.Assign(data, &r) {
			b.Fatal("not assigned")
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	type rectangle struct {
		X, Y, Width, Height float64
		Fill                string
	}
	d := NewDecoder(reflect.TypeFor[rectangle]())
	data := []byte(`{"X":10,"Y":20.5,"Width":100,"Height":50,"Fill":"#fff"}`)
	b.ReportAllocs()
	for b.Loop() {
		var r rectangle
		if err := d.Decode(data, &r); err != nil {
			b.Fatal(err)
		}
	}
}
