package fallback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/cue"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// Completer asks a model. It is safe for concurrent use.
type Completer interface {
	// Complete returns the text of the model's answer, of which 64 KB are read at most. It
	// must return when the context is done. Where a retry cannot help, the
	// error is a [*ModelError] with a status of 400 to 499, but not 408 or 429.
	Complete(context.Context, Prompt) (string, error)
}

// Prompt is what a model is asked.
type Prompt struct {
	System, User string
	// Schema is the JSON Schema that the answer has to fit, where the server can hold
	// a model to one.
	Schema json.RawMessage
	// MaxTokens bounds the answer.
	MaxTokens int
}

// ModelError says that a model server gave no usable answer.
type ModelError struct {
	Status  int // of HTTP; 0 if there was none
	Message string
}

// Error has the status and the message.
func (e *ModelError) Error() string {
	if e.Status == 0 {
		return "the repair model: " + e.Message
	}
	return fmt.Sprintf("the repair model: status %d: %s", e.Status, e.Message)
}

// permanent reports whether a retry cannot help.
func (e *ModelError) permanent() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != http.StatusTooManyRequests && e.Status != http.StatusRequestTimeout
}

// Errors of a repair by a model.
var (
	// ErrNoAnswer says that a model's answer is not the JSON that was asked for.
	ErrNoAnswer = errors.New("the repair model's answer cannot be read")
	// ErrRefused says that a model's answer is not a repair: it calls another tool, or has
	// values that do not stand in the text.
	ErrRefused = errors.New("the repair model's answer is refused")
	// ErrNone says that the model found no call in the text.
	ErrNone = errors.New("the repair model found no call")
	// ErrUnavailable says that the circuit breaker is open: the repair model failed too
	// often, and is not asked for a while.
	ErrUnavailable = errors.New("the repair model is not asked for a while, since it failed too often")
)

// ModelOptions bound what a repair by a model may cost. Zero values mean the defaults.
type ModelOptions struct {
	// MaxTextBytes bounds the broken text that the model is shown; what is longer is
	// not repaired. Default 8 KB.
	MaxTextBytes int
	// MaxTokens bounds the model's answer. Default 1,024.
	MaxTokens int
	// MaxTries is how often the model is asked about one text. Default 2, at most 5.
	MaxTries int
	// Backoff is the time before the second try; it doubles with each. Default 200 ms.
	Backoff time.Duration
	// BreakerFailures is the number of failures in a row that open the circuit breaker:
	// then the model is not asked. Default 5.
	BreakerFailures int
	// BreakerTimeout is how long the circuit breaker stays open. Default 30 s.
	BreakerTimeout time.Duration
}

// DefaultModelTimeout is how long a repair by a model takes at most, all tries
// together, where a step sets no other bound.
const DefaultModelTimeout = 15 * time.Second

// ModelRepair asks a model to write broken calls properly. Its answer is data: a call
// of the same tool, in which each value stands in the broken text, or nothing.
type ModelRepair struct {
	model   Completer
	o       ModelOptions
	breaker *gobreaker.CircuitBreaker[string]
}

// NewModelRepair returns a tier that asks a model.
func NewModelRepair(model Completer, o ModelOptions) *ModelRepair {
	if o.MaxTextBytes <= 0 {
		o.MaxTextBytes = 8 << 10
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = 1024
	}
	if o.MaxTries <= 0 {
		o.MaxTries = 2
	}
	o.MaxTries = min(o.MaxTries, 5)
	if o.Backoff <= 0 {
		o.Backoff = 200 * time.Millisecond
	}
	if o.BreakerFailures <= 0 {
		o.BreakerFailures = 5
	}
	if o.BreakerTimeout <= 0 {
		o.BreakerTimeout = 30 * time.Second
	}
	m := &ModelRepair{model: model, o: o}
	m.breaker = gobreaker.NewCircuitBreaker[string](gobreaker.Settings{
		Name:        "repair model",
		Timeout:     o.BreakerTimeout,
		ReadyToTrip: func(c gobreaker.Counts) bool { return int(c.ConsecutiveFailures) >= o.BreakerFailures },
		// A caller that went away says nothing of the model.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
	})
	return m
}

// Strategy is "llm_assisted_repair".
func (m *ModelRepair) Strategy() Strategy { return StrategyModel }

// candidate is a failure that a model may repair.
type candidate struct {
	index int // of the failure in its case, -1 for the text as a whole
	tool  *registry.Tool
	f     Failure
}

// Bounds of one question to a model.
const (
	maxCandidates  = 4        // failures that it is shown
	maxAnswerBytes = 64 << 10 // of its answer
)

// candidates are the failures that a model may repair: those of a known tool that are
// not cut off. Where there is no failure and a tool's name stands in the text, that
// is the failure.
func (m *ModelRepair) candidates(k *Case) (list []candidate) {
	size := 0
	for i, f := range k.Failures {
		name := f.Tool
		if name == "" {
			name = cue.ToolName(f.Raw, k.Tools)
		}
		match, ok := k.Tools.Lookup(name)
		size += len(f.Raw)
		if !ok || f.Truncated || match.Tool.RequireMarker || size > m.o.MaxTextBytes || len(list) == maxCandidates {
			continue
		}
		list = append(list, candidate{i, match.Tool, f})
	}
	if tool := k.Tools.Get(k.Cues.Name); len(k.Failures) == 0 && tool != nil && !tool.RequireMarker && len(k.Text) <= m.o.MaxTextBytes {
		list = append(list, candidate{-1, tool, Failure{Tool: tool.Name, Raw: k.Text, Span: [2]int{0, len(k.Text)}, Provenance: call.Bare}})
	}
	return list
}

// Applies reports whether there is something that the model may repair.
func (m *ModelRepair) Applies(k *Case) bool {
	return k.Cues.Plainly() && len(m.candidates(k)) > 0
}

// Recover asks the model.
func (m *ModelRepair) Recover(ctx context.Context, k *Case) (r Recovery, err error) {
	r.Tried = "the model was asked"
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, DefaultModelTimeout)
		defer cancel()
	}
	list := m.candidates(k)
	prompt := writePrompt(list, m.o.MaxTokens)
	var calls []any
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval = m.o.Backoff
	delays.Multiplier = 2
	tries := 0
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		tries++
		_, err := m.breaker.Execute(func() (string, error) {
			answer, err := m.model.Complete(ctx, prompt)
			if err != nil {
				return "", err
			}
			if err = ctx.Err(); err == nil {
				calls, err = readAnswer(answer)
			}
			return "", err
		})
		var failed *ModelError
		switch {
		case errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests):
			err = backoff.Permanent(ErrUnavailable)
		case errors.As(err, &failed) && failed.permanent(), err != nil && ctx.Err() != nil:
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(delays), backoff.WithMaxTries(uint(m.o.MaxTries)))
	r.Tried = fmt.Sprintf("the model was asked %d times", tries)
	if tries == 1 {
		r.Tried = "the model was asked once"
	}
	if err != nil {
		var permanent *backoff.PermanentError
		if errors.As(err, &permanent) {
			err = permanent.Unwrap()
		}
		return r, err
	}
	r.Proposals, err = accept(calls, list)
	return r, err
}

// readAnswer reads the list of calls out of a model's answer.
func readAnswer(answer string) ([]any, error) {
	if len(answer) > maxAnswerBytes {
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d", ErrNoAnswer, len(answer), maxAnswerBytes)
	}
	start := strings.IndexByte(answer, '{')
	if start < 0 {
		return nil, ErrNoAnswer
	}
	v, _, err := lenient.Parse(answer[start:], lenient.Options{})
	if err != nil && !errors.Is(err, lenient.ErrTrailing) {
		return nil, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	o, _ := v.(map[string]any)
	calls, ok := o["calls"].([]any)
	if !ok {
		return nil, fmt.Errorf("%w: it has no list of calls", ErrNoAnswer)
	}
	return calls, nil
}

// accept takes the calls of a model's answer. Each has to be of a failure's own tool, and
// must not invent anything. If one does, the whole answer is refused. Each name that does
// not stand in the text is among the fixes.
func accept(calls []any, list []candidate) ([]Proposal, error) {
	if len(calls) == 0 {
		return nil, ErrNone
	}
	if len(calls) > len(list) {
		return nil, fmt.Errorf("%w: %d calls for %d broken ones", ErrRefused, len(calls), len(list))
	}
	used := map[int]bool{}
	var proposals []Proposal
	for _, c := range calls {
		o, _ := c.(map[string]any)
		index, ok := candidateIndex(o["candidate"], len(list))
		if !ok || used[index] {
			return nil, fmt.Errorf("%w: it does not say which candidate it repairs", ErrRefused)
		}
		used[index] = true
		b := &list[index]
		if name, _ := o["tool"].(string); name != b.tool.Name {
			return nil, fmt.Errorf("%w: it calls %q, the text %q", ErrRefused, text.Clip(name, maxQuotedBytes), b.tool.Name)
		}
		parameters, ok := withoutJoiners(o["parameters"]).(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%w: its parameters are no object", ErrRefused)
		}
		renamed, err := grounded(b.f.Raw, b.tool, parameters)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRefused, err)
		}
		fixes := append([]string{"rewritten_by_model"}, renamed...)
		if !strings.Contains(b.f.Raw, b.tool.Name) {
			fixes = append(fixes, "tool named "+b.tool.Name)
		}
		proposals = append(proposals, Proposal{
			Failure: b.index, Tool: b.tool.Name, Parameters: parameters, Raw: b.f.Raw, Span: b.f.Span, Provenance: b.f.Provenance,
			Method: call.MethodAssisted, Fixes: fixes,
		})
	}
	return proposals, nil
}

func candidateIndex(v any, n int) (int, bool) {
	if v == nil && n == 1 {
		return 0, true
	}
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := number.Int64()
	return int(i), err == nil && i >= 0 && i < int64(n)
}

// withoutJoiners undoes [neutralize] in an answer, and makes its raw text strings. The
// reader bounds the depth.
func withoutJoiners(v any) any {
	switch x := v.(type) {
	case string:
		return strings.ReplaceAll(x, joiner, "")
	case lenient.Text:
		return strings.ReplaceAll(string(x), joiner, "")
	case map[string]any:
		o := make(map[string]any, len(x))
		for k, e := range x {
			o[strings.ReplaceAll(k, joiner, "")] = withoutJoiners(e)
		}
		return o
	case []any:
		for i := range x {
			x[i] = withoutJoiners(x[i])
		}
	}
	return v
}
