package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
)

// Loop asks a model, runs what it calls, tells it the results, and asks again, until it
// answers without a call or a limit is met.
//
//	l := dispatch.Loop{Model: model, Dispatch: &d, Request: adapters.Request{Model: "qwen3"}}
//	t, err := l.Say(ctx, "Draw a red circle")
//	fmt.Println(t.Text())
//
// A loop may be used again, one use at a time.
type Loop struct {
	Model    Model
	Dispatch *Dispatcher
	// Request is sent with each turn: the model's name, the temperature, whether to stream.
	// Its Messages begin the conversation, such as one of the system. The dispatcher's tools
	// are added.
	Request adapters.Request
	// Parse are the options of the parser that reads the replies.
	Parse parser.Options
	// Context is what the application knows; may be nil.
	Context *Context
	// MaxTurns is how many turns the model has; 0 means 16. MaxTime bounds all of them; 0
	// means 10 minutes, less than 0 nothing. MaxTokens bounds the tokens of all turns, in
	// and out, as far as the provider says them; 0 means nothing.
	MaxTurns  int
	MaxTime   time.Duration
	MaxTokens int64
	// MaxSame is in how many turns in a row the model may make the same calls and get the
	// same results, and in how many a tool may fail, whatever its arguments; 0 means 3. Calls
	// of tools that are Repeatable do not count.
	MaxSame int
	// OnEvent is told what happens, one event at a time; nil tells nobody.
	OnEvent func(LoopEvent)
}

// Defaults of a [Loop].
const (
	DefaultMaxTurns = 16
	DefaultMaxTime  = 10 * time.Minute
	DefaultMaxSame  = 3
)

// LoopEvent is one step of a [Loop].
type LoopEvent struct {
	Type LoopEventType
	Turn int // from 1
	// Parsed is an event of the model's reply while it arrives.
	Parsed *parser.Event
	// Call is a call that starts.
	Call *Call
	// Result is what became of a call.
	Result *Result
	// Text is what the model is told of calls that could not be read.
	Text string
}

// LoopEventType says what an event is.
type LoopEventType string

// The types of events.
const (
	EventParsed    LoopEventType = "parsed"
	EventToolStart LoopEventType = "tool_start"
	EventToolEnd   LoopEventType = "tool_end"
	EventFeedback  LoopEventType = "feedback"
)

// errLoopTime is the cause with which a loop's context ends when its time is over.
var errLoopTime = errors.New("the loop's time is over")

// Say has the user say something, and returns what came of it. The error is that of ctx or
// of the model; what happened before it is in the transcript. That a call fails is no error.
func (l *Loop) Say(ctx context.Context, text string) (*Transcript, error) {
	t := &Transcript{Messages: slices.Clone(l.Request.Messages)}
	return t, l.Continue(ctx, t, text)
}

// Continue is Say in a conversation that goes on. An empty text asks the model again.
func (l *Loop) Continue(ctx context.Context, t *Transcript, text string) error {
	if text != "" {
		t.Messages = append(t.Messages, userMessage(text))
	}
	limit := l.MaxTime
	if limit == 0 {
		limit = DefaultMaxTime
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errLoopTime)
		defer cancel()
	}
	p, err := parser.New(l.Dispatch.Registry(), l.Parse)
	if err != nil {
		return err
	}
	g := &going{Loop: l, t: t, parser: p, session: &session{}, failing: map[string]int{}}
	g.session.start = func(c *Call) { g.tell(LoopEvent{Type: EventToolStart, Call: c}) }
	g.session.end = func(r *Result) { g.tell(LoopEvent{Type: EventToolEnd, Result: r}) }
	for t.Stop = ""; t.Stop == ""; {
		if err := g.turn(ctx); err != nil {
			t.Stop = StopError
			if errors.Is(context.Cause(ctx), errLoopTime) {
				t.Stop = StopTime
				return nil
			}
			return err
		}
	}
	return nil
}

// Plan asks the model once, and plans what it calls without running it: a dry run. The
// error joins the [*Error] of each call that cannot run, or is that of the model: then
// there is no plan.
func (l *Loop) Plan(ctx context.Context, text string) (*parser.Result, *Plan, error) {
	p, err := parser.New(l.Dispatch.Registry(), l.Parse)
	if err != nil {
		return nil, nil, err
	}
	t := &Transcript{Messages: append(slices.Clone(l.Request.Messages), userMessage(text))}
	g := &going{Loop: l, t: t, parser: p}
	result, _, err := g.ask(ctx, g.request())
	if err != nil {
		return result, nil, err
	}
	plan, err := l.Dispatch.Plan(result, g.context())
	return result, plan, err
}

// going is a loop that goes on.
type going struct {
	*Loop
	t       *Transcript
	parser  *parser.Parser
	session *session
	turns   int            // of this use of the loop
	last    Stop           // the limit that the model was told of: this turn is its last
	before  string         // calls and results of the turn before
	same    int            // how many turns in a row had them
	failing map[string]int // how many turns in a row a tool failed

	mu sync.Mutex // of OnEvent
}

func (g *going) tell(e LoopEvent) {
	if g.OnEvent == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e.Turn = g.t.turns
	g.OnEvent(e)
}

// turn asks the model once, and runs its calls.
func (g *going) turn(ctx context.Context) error {
	g.turns++
	g.t.turns++
	result, reply, err := g.ask(ctx, g.request())
	if err != nil {
		if result != nil && result.Content != "" { // what it said before counts
			g.t.Messages = append(g.t.Messages, adapters.Message{
				Role: adapters.RoleAssistant, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: result.Content}},
			})
		}
		return err
	}
	g.t.Turns = append(g.t.Turns, Turn{Result: result})
	if u := reply.Usage; u != nil {
		g.t.Usage.InputTokens += u.InputTokens
		g.t.Usage.OutputTokens += u.OutputTokens
		g.t.Usage.CachedTokens += u.CachedTokens
		g.t.Usage.CacheWriteTokens += u.CacheWriteTokens
		g.t.Usage.ReasoningTokens += u.ReasoningTokens
	}
	meant := slices.ContainsFunc(result.Rejected, func(x parser.Rejected) bool { return x.Meant() })
	if len(result.Calls) == 0 && !meant || g.last != "" {
		g.t.Messages = append(g.t.Messages, assistant(result, reply, nil))
		if g.t.Stop = StopAnswer; g.last != "" {
			g.t.Stop = g.last
		}
		return nil
	}
	g.session.turn = strconv.Itoa(g.t.turns)
	report, err := g.Dispatch.run(ctx, result, g.context(), g.session)
	g.t.Turns[len(g.t.Turns)-1].Report = report
	g.unique(report)
	messages := report.Messages()
	g.t.Messages = append(append(g.t.Messages, assistant(result, reply, report)), messages...)
	for i := range messages {
		if messages[i].Role == adapters.RoleUser {
			g.tell(LoopEvent{Type: EventFeedback, Text: messages[i].Text()})
		}
	}
	switch {
	case err != nil:
		return err
	case report.Stop:
		g.t.Stop = StopTool
	case len(report.Pending) > 0:
		g.t.Stop = StopPending
	case g.MaxTokens > 0 && g.t.Usage.InputTokens+g.t.Usage.OutputTokens >= g.MaxTokens:
		g.t.Stop = StopTokens
	default:
		g.limit(report)
	}
	return nil
}

// request is the request of the next turn.
func (g *going) request() *adapters.Request {
	r := g.Request
	r.Messages, r.Tools = g.t.Messages, append(slices.Clone(g.Request.Tools), g.Dispatch.described()...)
	if g.last != "" {
		r.ToolChoice = adapters.ToolChoice{Mode: adapters.ToolNone}
	}
	return &r
}

// ask asks the model, and parses its reply while it arrives.
func (g *going) ask(ctx context.Context, r *adapters.Request) (*parser.Result, *adapters.Reply, error) {
	pc := parser.Context{Model: r.Model}
	for i := range r.Messages {
		m := &r.Messages[i]
		switch m.Role {
		case adapters.RoleUser:
			pc.Prompt = append(pc.Prompt, m.Text())
		case adapters.RoleTool:
			for _, b := range m.Blocks {
				if b.Result != nil {
					pc.Prompt = append(pc.Prompt, b.Result.Text)
				}
			}
		}
	}
	f := g.parser.NewReplyFeeder(ctx, pc)
	defer f.Close()
	var a adapters.Accumulator
	var result *parser.Result
	tell := func(events []parser.Event) {
		for i := range events {
			if e := events[i]; e.Type == parser.EventResult {
				result = e.Result
			} else {
				g.tell(LoopEvent{Type: EventParsed, Parsed: &e})
			}
		}
	}
	var failed error
	for e, err := range g.Model(ctx, r) {
		if err != nil {
			failed = err
			break
		}
		a.Add(e.Clone())
		events, err := f.Feed(e)
		tell(events)
		if err != nil {
			failed = err
			break
		}
	}
	events, err := f.End()
	tell(events)
	if failed == nil {
		failed = err
	}
	if failed == nil && result == nil {
		failed = parser.ErrEnded
	}
	return result, a.Reply(), failed
}

// context is what is known, with the conversation so far.
func (g *going) context() *Context {
	c := Context{}
	if g.Context != nil {
		c = *g.Context
	}
	if c.Model == "" {
		c.Model = g.Request.Model
	}
	c.History = g.t.Messages
	if n := len(g.t.Turns); c.LastCall == nil && n > 1 && g.t.Turns[n-2].Report != nil {
		for _, r := range slices.Backward(g.t.Turns[n-2].Report.Results) {
			if r.Err == nil {
				c.LastCall = r.Call
				break
			}
		}
	}
	return &c
}

// unique gives calls other ids whose ids stand in the conversation already: providers
// refuse a conversation with an id twice.
func (g *going) unique(r *Report) {
	used := map[string]bool{}
	for i := range g.t.Messages {
		for _, c := range g.t.Messages[i].Calls() {
			used[c.ID] = true
		}
	}
	for i := range r.Results {
		c := r.Results[i].Call
		for n, id := 2, c.ID; used[c.ID]; n++ {
			c.ID = id + "_" + strconv.Itoa(n)
		}
		used[c.ID] = true
	}
}

// limit ends the loop where it does not get on: the model is told once, and answers.
func (g *going) limit(r *Report) {
	most, same := g.MaxTurns, g.MaxSame
	if most <= 0 {
		most = DefaultMaxTurns
	}
	if same <= 0 {
		same = DefaultMaxSame
	}
	counts, failing := g.count(r), ""
	for tool, n := range g.failing {
		if n >= same && (failing == "" || tool < failing) {
			failing = tool
		}
	}
	var why string
	switch {
	case g.turns >= most: // there is no turn left to answer in
		g.t.Stop = StopTurns
		return
	case g.turns+1 >= most:
		g.last, why = StopTurns, fmt.Sprintf("This was turn %d of %d.", g.turns, most)
	case counts >= same:
		g.last, why = StopSame, fmt.Sprintf("You made the same calls %d times, with the same results.", counts)
	case failing != "":
		g.last, why = StopFailing, fmt.Sprintf("%s failed in %d turns one after the other.", failing, g.failing[failing])
	default:
		return
	}
	g.t.Messages = append(g.t.Messages, userMessage(why+" No more calls are run. Answer now with what you have, and say what is missing."))
}

// count counts how often the calls of a turn were made in a row with the same results, and
// the turns in which each tool failed.
func (g *going) count(r *Report) int {
	hash := sha256.New()
	failed, ran, counted := map[string]bool{}, map[string]bool{}, false
	for i := range r.Results {
		x := &r.Results[i]
		if x.Err != nil {
			failed[x.Call.Tool] = true
		} else {
			ran[x.Call.Tool] = true
		}
		if x.Call.Target != nil && x.Call.Target.Repeatable {
			continue
		}
		counted = true
		fmt.Fprintf(hash, "%s %q", x.Call.Key(), x.Text)
		if x.Err != nil {
			fmt.Fprintf(hash, "%s %q", x.Err.Code, x.Err.Message)
		}
	}
	for tool := range g.failing {
		if !failed[tool] || ran[tool] {
			delete(g.failing, tool)
		}
	}
	for tool := range failed {
		if !ran[tool] {
			g.failing[tool]++
		}
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if sum != g.before || !counted {
		g.before, g.same = sum, 0
	}
	g.same++
	if !counted {
		return 0
	}
	return g.same
}

func userMessage(text string) adapters.Message {
	return adapters.Message{Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: text}}}
}

// assistant makes the model's message: its reasoning as the provider wants it back, its
// text, and the calls of which it is told.
func assistant(result *parser.Result, reply *adapters.Reply, r *Report) adapters.Message {
	m := adapters.Message{Role: adapters.RoleAssistant}
	first := reply.First()
	for _, b := range first.Blocks {
		if b.Type == adapters.BlockReasoning && b.Signature != "" {
			m.Blocks = append(m.Blocks, b)
		}
	}
	text := result.Content
	if r == nil && text == "" && result.Reply != nil {
		text = result.Reply.Refusal
	}
	calls := []adapters.Block{}
	if r != nil {
		for i := range r.Results {
			c := r.Results[i].Call
			if c.Within != "" || c.Tool == "" {
				continue
			}
			calls = append(calls, adapters.Block{Type: adapters.BlockCall, Call: &adapters.Call{ID: c.ID, Name: c.Tool, Arguments: argumentsOf(c)}})
			for _, b := range first.Blocks { // what belongs to a call goes back with it
				if b.Type == adapters.BlockCall && b.Call.ID == c.ID {
					calls[len(calls)-1].Signature = b.Signature
				}
			}
		}
		if len(calls) == 0 && strings.TrimSpace(text) == "" { // what cannot be read is shown as it came
			for i := range r.Results {
				text += r.Results[i].Call.Raw
			}
		}
	}
	if text != "" {
		m.Blocks = append(m.Blocks, adapters.Block{Type: adapters.BlockText, Text: text})
	}
	m.Blocks = append(m.Blocks, calls...)
	return m
}

// argumentsOf is a call's arguments as JSON, the same for the same ones.
func argumentsOf(c *Call) string {
	if c.Parameters == nil {
		return "{}"
	}
	data, err := encode(c.Parameters)
	if err != nil {
		return "{}"
	}
	return data
}

// described are the tools as a model is told of them.
func (d *Dispatcher) described() []adapters.Tool {
	var out []adapters.Tool
	for _, t := range d.Tools() {
		out = append(out, Describe(&t.Tool))
	}
	return out
}
