package dispatch

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/callwright/callwright/adapters"
)

// Result is what became of a call. A handler sets Text, Value and Media; the dispatcher
// sets the rest.
type Result struct {
	// Text is what a model is shown. A Run has cut it to the Output's MaxBytes.
	Text string
	// Value is what references to the call see: what the function returned, or decoded
	// JSON. It is never cut. If a handler leaves it nil, it is the Text.
	Value any
	// Media are images and the like.
	Media []adapters.Media

	// Call is the call; its Tool is "" for something that was rejected and named no tool.
	Call *Call
	// Err says why there is no result; nil if the call ran.
	Err *Error
	// Repeated says that an earlier call with the same key ran, and this one did not.
	Repeated bool
	// Spilled is the file that has all of a text that was cut; "" if there is none.
	Spilled string
	// Level is that of the call in the plan, Took how long it ran, its attempts and the
	// waits between them included.
	Level int
	Took  time.Duration

	stop bool
}

// Decode decodes the value of a result into a Go value, as encoding/json does.
func (r *Result) Decode(into any) error {
	if r.Err != nil {
		return r.Err
	}
	data, err := json.Marshal(r.Value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// Report is what became of all calls of a reply.
type Report struct {
	// Results has one result for each call, in the text's order, whatever became of it,
	// and for each rejected one that was meant as a call.
	Results []Result
	// Pending are the calls that wait for an approval that is given elsewhere. Run them
	// again, with the same result of the parse and a Memory that remembers: what is done
	// is not done again.
	Pending []*Call
	// Stop says that a handler returned [ErrStop].
	Stop bool

	graph  *graph
	vision bool
}

// Plan is the plan that was followed, without the policy's decisions.
func (r *Report) Plan() *Plan { return r.graph.plan() }

// Failed reports whether some call has no result.
func (r *Report) Failed() bool {
	for i := range r.Results {
		if r.Results[i].Err != nil {
			return true
		}
	}
	return false
}

// Messages returns what the model is told: a message with the result of each call, and,
// if something was rejected that names no tool, a message of the user that says why.
func (r *Report) Messages() []adapters.Message {
	var out []adapters.Message
	feedback := ""
	for i := range r.Results {
		x := &r.Results[i]
		switch {
		case x.Call.Within != "": // the model knows nothing of it
		case x.Call.Tool == "":
			feedback += x.Err.Message + "\n"
		default:
			block := adapters.Block{Type: adapters.BlockResult, Result: x.toolResult(r.vision)}
			out = append(out, adapters.Message{Role: adapters.RoleTool, Blocks: []adapters.Block{block}})
		}
	}
	if feedback != "" {
		out = append(out, adapters.Message{Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: feedback}}})
	}
	return out
}

// toolResult is a result as the model is told it.
func (r *Result) toolResult(vision bool) *adapters.ToolResult {
	t := &adapters.ToolResult{CallID: r.Call.ID, Name: r.Call.Tool, Text: r.Text}
	if r.Err != nil {
		t.IsError, t.Text = true, fmt.Sprintf("Error (%s): %s", r.Err.Code, r.Err.Message)
		return t
	}
	if r.Repeated {
		t.Text += "\n[the same call ran before: this is its result]"
	}
	for _, m := range r.Media {
		if vision {
			t.Media = append(t.Media, m)
			continue
		}
		t.Text += fmt.Sprintf("\n[%s, %d KB, not shown]", or(m.MIMEType, "a file"), (len(m.Data)*3/4+1023)/1024)
	}
	return t
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
