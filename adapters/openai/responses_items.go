package openai

import (
	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// encodeItems writes blocks as items: text and refusals that follow each other
// are one message. Those of an output have ids and a status.
func encodeItems(blocks []adapters.Block, output bool) [][]byte {
	var items, parts [][]byte
	var beside wire.Object
	flush := func() {
		if parts != nil {
			items = append(items, messageItem(parts, beside, output).Bytes())
		}
		parts, beside = nil, nil
	}
	for i := range blocks {
		b := &blocks[i]
		if b.Type == adapters.BlockText || b.Type == adapters.BlockRefusal {
			if own, ok := wire.AsObject(convert.Own(b.Extra, ResponsesName).Get(outside)); ok {
				flush()
				beside = own
			}
			parts = append(parts, outputPart(b).Bytes())
			continue
		}
		flush()
		if item := encodeItem(b, output); item != nil {
			items = append(items, item.Bytes())
		}
	}
	flush()
	return items
}

func messageItem(parts [][]byte, beside wire.Object, output bool) wire.Object {
	var o wire.Object
	o.SetString("type", "message")
	if id := beside.String("id"); id != "" {
		o.SetString("id", id)
	} else if output {
		o.SetString("id", adapters.IDRule{Prefix: "msg_", Any: true}.New())
	}
	if output {
		o.SetString("status", "completed")
	}
	o.SetString("role", "assistant")
	o.SetList("content", parts)
	o.Merge(beside)
	return o
}

func outputPart(b *adapters.Block) wire.Object {
	var o wire.Object
	if b.Type == adapters.BlockRefusal {
		o.SetString("type", "refusal")
		o.SetString("refusal", b.Text)
		return o
	}
	o.SetString("type", "output_text")
	o.SetString("text", b.Text)
	for _, m := range convert.Own(b.Extra, ResponsesName) {
		if m.Key != outside {
			o.Set(m.Key, m.Value)
		}
	}
	if !o.Has("annotations") {
		o.SetList("annotations", nil)
	}
	return o
}

// encodeItem writes a block that is an item of its own.
func encodeItem(b *adapters.Block, output bool) wire.Object {
	var o wire.Object
	own := convert.Own(b.Extra, ResponsesName)
	id := own.String("id")
	newID := func(prefix string) {
		switch {
		case id != "":
			o.SetString("id", id)
		case output:
			o.SetString("id", adapters.IDRule{Prefix: prefix, Any: true}.New())
		}
	}
	switch b.Type {
	case adapters.BlockCall:
		if b.Call.Custom {
			o.SetString("type", "custom_tool_call")
			newID("ctc_")
			o.SetString("call_id", responsesCall.FitOrNew(b.Call.ID))
			o.SetString("name", withoutNamespace(b.Call.Name, own.String("namespace")))
			o.SetString("input", b.Call.Arguments)
		} else {
			o.SetString("type", "function_call")
			newID("fc_")
			o.SetString("call_id", responsesCall.FitOrNew(b.Call.ID))
			o.SetString("name", withoutNamespace(b.Call.Name, own.String("namespace")))
			o.SetString("arguments", arguments(b.Call))
		}
		if output {
			o.SetString("status", callStatus(b.Call.Truncated))
		}
	case adapters.BlockReasoning:
		if !output && id == "" && b.Signature == "" {
			return nil // the provider takes back only reasoning that is its own
		}
		o.SetString("type", "reasoning")
		newID("rs_")
		var text wire.Object
		kind, key := "summary_text", "summary"
		if b.NativeName == "reasoning_text" {
			kind, key = b.NativeName, "content"
			o.SetList("summary", nil)
		}
		text.SetString("type", kind)
		text.SetString("text", b.Text)
		if b.Text != "" {
			o.SetList(key, [][]byte{text.Bytes()})
		} else {
			o.SetList(key, nil)
		}
		o.SetText("encrypted_content", b.Signature)
	case adapters.BlockResult:
		kind := "function_call_output"
		if b.NativeName == "custom_tool_call_output" {
			kind = b.NativeName
		}
		o.SetString("type", kind)
		o.SetString("call_id", responsesCall.Fit(b.Result.CallID))
		o.Set("output", encodeOutput(b.Result))
	case adapters.BlockOther:
		return own
	default:
		return nil
	}
	o.Merge(own)
	return o
}

// callStatus is the status of a call in an output.
func callStatus(truncated bool) string {
	if truncated {
		return "incomplete"
	}
	return "completed"
}

// encodeOutput writes what a tool gave back: text, or parts where there are media.
func encodeOutput(r *adapters.ToolResult) []byte {
	if len(r.Media) == 0 {
		return wire.Quote(r.Text)
	}
	return wire.List(convert.Objects(convert.ResultBlocks(r), inputPart))
}

func inputPart(b *adapters.Block) wire.Object {
	var o wire.Object
	switch {
	case b.Type == adapters.BlockText:
		o.SetString("type", "input_text")
		o.SetString("text", b.Text)
	case b.Type == adapters.BlockMedia && convert.IsImage(b.Media):
		o.SetString("type", "input_image")
		o.SetString("image_url", convert.URLOf(b.Media))
	case b.Type == adapters.BlockMedia && b.Media.Data != "":
		o.SetString("type", "input_file")
		o.SetText("filename", b.Media.Name)
		o.SetString("file_data", convert.URLOf(b.Media))
	case b.Type == adapters.BlockMedia:
		o.SetString("type", "input_text")
		o.SetString("text", convert.LeftOut(b.Media))
	case b.Type == adapters.BlockOther:
		return convert.Own(b.Extra, ResponsesName)
	default:
		return nil
	}
	o.Merge(convert.Own(b.Extra, ResponsesName))
	return o
}
