// Package convert has what the packages of the wire formats share.
package convert

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/wire"
)

// Decoder reads the messages of one stream; adapters says what it promises.
type Decoder = interface {
	Message(event string, o wire.Object, emit func(adapters.Event)) error
	End(emit func(adapters.Event)) (whole bool)
}

// Own returns the members of an Extra if they are a format's own, else nil.
func Own(e adapters.Extra, format string) wire.Object { return e.For(format) }

// ArgumentsText returns a call's arguments as text. Formats have them as an object, or as a
// string that holds JSON.
func ArgumentsText(raw []byte) string {
	if s, ok := wire.String(raw); ok {
		return s
	}
	if wire.IsNull(raw) {
		return ""
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// ArgumentsObject returns a call's arguments as an object, for formats that have them as
// one. Broken JSON is repaired. What is not an object is put under the key "arguments", as
// text; the free text of a custom tool under "input".
func ArgumentsObject(c *adapters.Call) []byte {
	text := strings.TrimSpace(c.Arguments)
	var o wire.Object
	switch {
	case c.Custom:
		o.SetString("input", c.Arguments)
		return o.Bytes()
	case text == "" || text == "null":
		return []byte("{}")
	case text[0] == '{' && json.Valid([]byte(text)):
		return []byte(strings.ToValidUTF8(text, "\uFFFD"))
	case text[0] == '{':
		if v, _, err := lenient.Parse(text, lenient.Options{}); err == nil {
			if m, ok := v.(map[string]any); ok {
				if b, err := wire.Encode(m); err == nil {
					return b
				}
			}
		}
	case text[0] == '"': // encoded once too often
		if s, ok := wire.String([]byte(text)); ok && json.Valid([]byte(text)) {
			if s = strings.TrimSpace(s); strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
				return []byte(s)
			}
		}
	}
	o.SetString("arguments", c.Arguments)
	return o.Bytes()
}

// SplitDataURL takes a "data:" URL (RFC 2397) apart.
func SplitDataURL(url string) (mimeType, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	head, isBase64 := strings.CutSuffix(head, ";base64")
	if mimeType, _, _ = strings.Cut(head, ";"); mimeType == "" {
		mimeType = "text/plain"
	}
	return mimeType, data, ok && isBase64
}

// MediaOf makes a Media of an address, which may hold the data.
func MediaOf(url string) *adapters.Media {
	if mimeType, data, ok := SplitDataURL(url); ok {
		return &adapters.Media{MIMEType: mimeType, Data: data}
	}
	return &adapters.Media{URL: url}
}

// URLOf is the address of a Media: its own, or one that holds its data.
func URLOf(m *adapters.Media) string {
	if m.URL != "" {
		return m.URL
	}
	return "data:" + mimeType(m) + ";base64," + m.Data
}

func mimeType(m *adapters.Media) string {
	if m.MIMEType == "" {
		return "application/octet-stream"
	}
	return m.MIMEType
}

// IsImage reports whether a Media is an image, as far as is known.
func IsImage(m *adapters.Media) bool {
	return m.MIMEType == "" || strings.HasPrefix(m.MIMEType, "image/")
}

// LeftOut is the placeholder for media that a format cannot carry.
func LeftOut(m *adapters.Media) string {
	what := m.MIMEType
	if what == "" {
		what = "media"
	}
	if m.URL != "" {
		return fmt.Sprintf("[%s: %s]", what, m.URL)
	}
	return fmt.Sprintf("[%s of %d bytes, left out]", what, len(m.Data)/4*3)
}

// Number is a setting that is a number, by its key.
type Number struct {
	Key   string
	Value *json.Number
}

// TakeNumbers takes numbers as they were written. Other values are dropped.
func TakeNumbers(o *wire.Object, numbers []Number) {
	for _, n := range numbers {
		if raw := o.Take(n.Key); len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
			*n.Value = json.Number(raw)
		}
	}
}

// SetNumbers sets the numbers that are there.
func SetNumbers(o *wire.Object, numbers []Number) {
	for _, n := range numbers {
		if _, err := strconv.ParseFloat(string(*n.Value), 64); err == nil {
			o.Set(n.Key, []byte(*n.Value))
		}
	}
}

// Strings returns the strings of a value: of an array, or one.
func Strings(raw []byte) []string {
	if s, ok := wire.String(raw); ok {
		return []string{s}
	}
	var out []string
	for _, e := range wire.AsList(raw) {
		if s, ok := wire.String(e); ok {
			out = append(out, s)
		}
	}
	return out
}

// SetStrings sets an array of strings unless it is empty.
func SetStrings(o *wire.Object, key string, list []string) {
	if len(list) > 0 {
		o.Set(key, QuoteAll(list))
	}
}

// QuoteAll writes an array of strings.
func QuoteAll(list []string) []byte {
	raw := make([][]byte, len(list))
	for i, s := range list {
		raw[i] = wire.Quote(s)
	}
	return wire.List(raw)
}

// ResultText is the text of a result, with a placeholder for each of its media, for formats
// that cannot carry them.
func ResultText(r *adapters.ToolResult) string {
	if len(r.Media) == 0 {
		return r.Text
	}
	lines := make([]string, 0, 1+len(r.Media))
	if r.Text != "" {
		lines = append(lines, r.Text)
	}
	for i := range r.Media {
		lines = append(lines, LeftOut(&r.Media[i]))
	}
	return strings.Join(lines, "\n")
}

// SetResult gives a result the text and the media of blocks.
func SetResult(r *adapters.ToolResult, blocks []adapters.Block) {
	r.Text = adapters.JoinText(blocks, adapters.BlockText)
	for i := range blocks {
		if blocks[i].Type == adapters.BlockMedia {
			r.Media = append(r.Media, *blocks[i].Media)
		}
	}
}

// ResultBlocks are the text and the media of a result as blocks.
func ResultBlocks(r *adapters.ToolResult) []adapters.Block {
	var blocks []adapters.Block
	if r.Text != "" || len(r.Media) == 0 {
		blocks = append(blocks, adapters.Block{Type: adapters.BlockText, Text: r.Text})
	}
	for i := range r.Media {
		blocks = append(blocks, adapters.Block{Type: adapters.BlockMedia, Media: &r.Media[i]})
	}
	return blocks
}

// Objects writes blocks, or tools, as objects; nil ones are left out.
func Objects[T any](list []T, encode func(*T) wire.Object) [][]byte {
	var out [][]byte
	for i := range list {
		if o := encode(&list[i]); o != nil {
			out = append(out, o.Bytes())
		}
	}
	return out
}
