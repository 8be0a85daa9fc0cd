package formats_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/parser"
)

// streamOf is a chunked stream of chat completions: prose, then a call, in pieces of
// four bytes.
func streamOf(b *testing.B, size int) []byte {
	b.Helper()
	var out bytes.Buffer
	enc := openai.Chat.NewEncoder(&out)
	send := func(e adapters.Event) {
		if err := enc.Event(e); err != nil {
			b.Fatal(err)
		}
	}
	send(adapters.Event{Type: adapters.EventStart, ID: "chatcmpl-1", Model: "m"})
	for range size / 8 {
		send(adapters.Event{Type: adapters.EventText, Text: "word"})
	}
	send(adapters.Event{Type: adapters.EventCallStart, ID: "call_1", Name: "write_file"})
	send(adapters.Event{Type: adapters.EventArguments, Text: `{"path":"a","content":"`})
	for range size / 8 {
		send(adapters.Event{Type: adapters.EventArguments, Text: "text"})
	}
	send(adapters.Event{Type: adapters.EventArguments, Text: `"}`})
	send(adapters.Event{Type: adapters.EventCallEnd})
	send(adapters.Event{Type: adapters.EventFinish, Finish: adapters.FinishCalls})
	if err := enc.End(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// chunk is what a plain client decodes each message into.
type chunk struct {
	ID      string `json:"id"`
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			ToolCalls []struct {
				Function struct {
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
}

// BenchmarkStream reads streams: decoded by us, decoded and parsed, decoded and
// written in another format, and, for the ratio, each message decoded by
// encoding/json into the struct of a plain client.
func BenchmarkStream(b *testing.B) {
	for _, size := range []int{8 << 10, 256 << 10} {
		data := streamOf(b, size)
		name := fmt.Sprintf("%dKB", size>>10)
		b.Run("encoding_json/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				for line := range bytes.Lines(data) {
					payload, ok := bytes.CutPrefix(line, []byte("data: "))
					if !ok || payload[0] != '{' {
						continue
					}
					var c chunk
					if err := json.Unmarshal(payload, &c); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run("decode/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range openai.Chat.DecodeStream(bytes.NewReader(data), adapters.Limits{MaxTotalBytes: 1 << 30}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run("parse/"+name, func(b *testing.B) {
			p := newParser(b)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				events := openai.Chat.DecodeStream(bytes.NewReader(data), adapters.Limits{MaxTotalBytes: 1 << 30})
				for _, err := range parser.StreamReply(context.Background(), p, openai.ChatName, events, parser.Context{}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run("to_anthropic/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				enc := anthropic.Messages.NewEncoder(io.Discard)
				for e, err := range openai.Chat.DecodeStream(bytes.NewReader(data), adapters.Limits{MaxTotalBytes: 1 << 30}) {
					if err == nil {
						err = enc.Event(e)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				if err := enc.End(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReply reads a whole reply with a call of 64 KB, and, for the ratio,
// decodes it by encoding/json.
func BenchmarkReply(b *testing.B) {
	reply := samples()["calls"]
	reply.Choices[0].Blocks[2].Call.Arguments = `{"path":"a","content":"` + strings.Repeat("some text, ", 6000) + `"}`
	data, err := openai.Chat.EncodeReply(reply)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encoding_json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := formats.Read(nil, data, adapters.Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
