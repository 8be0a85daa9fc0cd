package validator_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/validator"
)

// rows is a call with 1,000 small objects, some 64 KB.
func rows() string {
	var b strings.Builder
	b.WriteString(`{"table":"people","rows":[`)
	for i := range 1000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"person number %d","age":%d,"active":true,"score":%d.5}`, i, i, i%90, i)
	}
	b.WriteString(`]}`)
	return b.String()
}

const rowsSchema = `{"type":"object","required":["table","rows"],"properties":{"table":{"type":"string"},"rows":{"type":"array",
	"items":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","minimum":0},"name":{"type":"string","maxLength":80},
	"age":{"type":"integer","minimum":0,"maximum":150},"active":{"type":"boolean"},"score":{"type":"number"},"note":{"type":"string"}}}}}}`

const smallSchema = `{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1,
	"maximum":14},"unit":{"type":"string","enum":["celsius","fahrenheit"],"default":"celsius"}}}`

const branchesSchema = `{"type":"object","$defs":{"expr":{"anyOf":[
	{"type":"object","properties":{"op":{"const":"and"},"args":{"type":"array","items":{"$ref":"#/$defs/expr"}}},"required":["op","args"]},
	{"type":"object","properties":{"op":{"const":"or"},"args":{"type":"array","items":{"$ref":"#/$defs/expr"}}},"required":["op","args"]},
	{"type":"string"}]}},"properties":{"where":{"$ref":"#/$defs/expr"}}}`

func BenchmarkValidate(b *testing.B) {
	for _, bm := range []struct{ name, schema, value string }{
		{"small", smallSchema, `{"city":"Rome","days":3,"unit":"fahrenheit"}`},
		{"small_default", smallSchema, `{"city":"Rome","days":3}`},
		{"small_coerced", smallSchema, `{"city":"Rome","days":"3","unit":"Celsius"}`},
		{"small_wrong", smallSchema, `{"days":"many","unit":"kelvin"}`},
		{"rows", rowsSchema, rows()},
		{"branches", branchesSchema, `{"where":{"op":"or","args":["a",{"op":"and","args":["b","c"]},{"op":"or","args":["d"]}]}}`},
	} {
		b.Run(bm.name, func(b *testing.B) {
			tl := tool(b, bm.schema)
			b.ReportAllocs()
			b.SetBytes(int64(len(bm.value)))
			for b.Loop() {
				b.StopTimer()
				m := decode(b, bm.value)
				b.StartTimer()
				validator.Validate(tl, m, validator.Options{})
			}
		})
	}
}

// BenchmarkReadAndValidate reads a call's arguments and validates them, beside encoding/json,
// which does neither validate nor keep the digits of numbers.
func BenchmarkReadAndValidate(b *testing.B) {
	for _, bm := range []struct{ name, schema, value string }{
		{"small", smallSchema, `{"city":"Rome","days":3,"unit":"fahrenheit"}`}, {"rows", rowsSchema, rows()},
	} {
		tl := tool(b, bm.schema)
		b.Run(bm.name+"/callwright", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bm.value)))
			for b.Loop() {
				v, _, err := lenient.Parse(bm.value, lenient.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if res := validator.Validate(tl, v.(map[string]any), validator.Options{}); !res.Valid() {
					b.Fatal(res.Errors)
				}
			}
		})
		b.Run(bm.name+"/read_only", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bm.value)))
			for b.Loop() {
				if _, _, err := lenient.Parse(bm.value, lenient.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bm.name+"/encoding_json", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bm.value)))
			data := []byte(bm.value)
			for b.Loop() {
				var v any
				if err := json.Unmarshal(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
