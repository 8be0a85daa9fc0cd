package adapters_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
)

// TestSimilarMessages checks that messages which differ in their text alone are read as any
// other: whatever the text, each gives its own.
func TestSimilarMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom([]string{
			"a", "m", "c1", "assistant", "content", "\"", "\\", "\n", "é", " ", "\u2028", "a\"b", "}", "{\"content\":\"x\"}", "\\u0061", "",
		}), rapid.String())
		texts := rapid.SliceOfN(piece, 1, 12).Draw(t, "texts")
		var stream strings.Builder
		want := []string{}
		for i, text := range texts {
			b, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			model := "m"
			if rapid.IntRange(0, 5).Draw(t, "another model") == 0 {
				model = fmt.Sprint("m", i)
			}
			extra := ""
			if rapid.IntRange(0, 5).Draw(t, "extra") == 0 {
				extra = fmt.Sprintf(`,"logprobs":{"i":%d}`, i)
			}
			fmt.Fprintf(
				&stream, "data: {\"id\":\"c1\",\"model\":%q,\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}%s,\"finish_reason\":null}]}\n\n",
				model, b, extra,
			)
			if decoded := ""; json.Unmarshal(b, &decoded) == nil && decoded != "" {
				want = append(want, decoded)
			}
		}
		stream.WriteString("data: [DONE]\n\n")
		got := []string{}
		for e, err := range openai.Chat.DecodeStream(strings.NewReader(stream.String()), adapters.Limits{}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == adapters.EventText && e.Text != "" {
				got = append(got, e.Text)
			}
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q, want %q in\n%s", got, want, stream.String())
		}
	})
}
