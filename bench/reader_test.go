// Package bench measures callwright and its lenient reader beside others, in a module of
// its own so that the library does not depend on them.
package bench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bytedance/sonic"
	experiment "github.com/go-json-experiment/json"
	"github.com/kaptinlin/jsonrepair"

	"github.com/callwright/callwright/internal/lenient"
)

// longString is the arguments of a call that writes 64 KB of source code.
func longString() []byte {
	code := strings.Repeat("func f(a, b int) string {\n\tif a < b { return \"x\\\\y\" }\n\treturn fmt.Sprint(a, b)\n}\n", 1000)
	b, err := json.Marshal(map[string]any{"path": "main.go", "content": code[:64<<10]})
	if err != nil {
		panic(err)
	}
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

func readLenient(text string) error {
	_, err := lenient.NewReader(lenient.NewText(text), lenient.Options{}).Value()
	return err
}

func BenchmarkClean(b *testing.B) {
	for _, in := range []struct {
		name string
		text []byte
	}{{"long_string", longString()}, {"many_members", manyMembers()}} {
		text := string(in.text)
		for _, d := range []struct {
			name   string
			decode func() error
		}{
			{"lenient", func() error { return readLenient(text) }},
			{"encoding_json", func() error { var v any; return json.Unmarshal(in.text, &v) }},
			{"go_json_experiment", func() error { var v any; return experiment.Unmarshal(in.text, &v) }},
			{"sonic", func() error { var v any; return sonic.Unmarshal(in.text, &v) }},
		} {
			b.Run(in.name+"/"+d.name, func(b *testing.B) {
				b.SetBytes(int64(len(in.text)))
				b.ReportAllocs()
				for b.Loop() {
					if err := d.decode(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkBroken reads 8 KB with trailing commas, single quotes and unquoted keys.
func BenchmarkBroken(b *testing.B) {
	text := "{items: [" + strings.Repeat("{'id': 1, name: \"item\", \"ok\": True,},", 200) + "]}"
	b.Run("lenient", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if err := readLenient(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("jsonrepair", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			repaired, err := jsonrepair.Repair(text)
			if err != nil {
				b.Fatal(err)
			}
			var v any
			if err := json.Unmarshal([]byte(repaired), &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
