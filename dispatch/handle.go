package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/dispatch/internal/schema"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// Handle adds a tool that is a Go function. The schema of its parameters is that of In, a
// struct or a map, from its fields and their tags:
//
//	type Rectangle struct {
//		X     float64 `json:"x"`
//		Width float64 `json:"width,omitempty" jsonschema:"default=100,minimum=1" jsonschema_description:"in pixels"`
//	}
//
// A field without omitempty is required. The function is called with values that were
// coerced to the schema, with defaults filled in, and validated. A string that it returns
// is shown to the model as it is, a [Result] too, any other Out as JSON.
//
// Like http.Handle it panics if the name is taken, if In has no schema, and after the
// dispatcher's first use. The tool that it returns may be changed until then.
func Handle[In, Out any](d *Dispatcher, name string, f func(context.Context, In) (Out, error)) *Tool {
	t, err := NewTool(name, f)
	if err == nil {
		err = d.add(t)
	}
	if err != nil {
		panic("dispatch: " + err.Error())
	}
	return t
}

// NewTool returns a tool that is a Go function, as [Handle] adds one. The error names the
// field of In that has no schema, or a tag without effect.
func NewTool[In, Out any](name string, f func(context.Context, In) (Out, error)) (*Tool, error) {
	parameters, err := schema.Of(reflect.TypeFor[In]())
	if err != nil {
		return nil, fmt.Errorf("tool %q: %w", name, err)
	}
	t := &Tool{Tool: registry.Tool{Name: name, Parameters: parameters}}
	if returns, err := schema.Of(reflect.TypeFor[Out]()); err == nil && reflect.TypeFor[Out]() != reflect.TypeFor[Result]() {
		t.Returns = returns
	}
	r, err := registry.NewWith(registry.Options{Strict: true}, t.Tool)
	if err != nil {
		return nil, err
	}
	if err := checkDefaults(r.Get(name).Schema(), "", 0); err != nil {
		return nil, fmt.Errorf("tool %q: %w", name, err)
	}
	decoder := schema.NewDecoder(reflect.TypeFor[In]())
	t.Run = func(ctx context.Context, c *Call) (Result, error) {
		in, err := arguments[In](decoder, c.Parameters)
		if err != nil {
			return Result{}, &Error{Code: CodeInvalid, Message: "the arguments do not fit: " + err.Error(), Err: err}
		}
		out, err := f(ctx, in)
		if err != nil && !errors.Is(err, ErrStop) {
			return Result{}, err
		}
		r, wrong := resultOf(out)
		if wrong != nil {
			return Result{}, wrong
		}
		return r, err
	}
	return t, nil
}

// checkDefaults finds defaults that do not fit the schema they stand in.
func checkDefaults(s *jsonschema.Schema, at string, depth int) error {
	if s == nil || depth > maxDepth {
		return nil
	}
	for name, p := range s.Properties {
		place := text.Pointer(at, name)
		if p.Default != nil {
			if err := p.Validate(text.Clone(*p.Default)); err != nil {
				return fmt.Errorf("the default of %s does not fit its schema: %v", place, *p.Default)
			}
		}
		if err := checkDefaults(p, place, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// arguments decodes parameters into a function's argument. A map takes them as they are.
func arguments[In any](d schema.Decoder, parameters map[string]any) (in In, err error) {
	if m, ok := any(&in).(*map[string]any); ok {
		*m, _ = text.Clone(parameters).(map[string]any)
		return in, nil
	}
	if d.Assign(parameters, &in) {
		return in, nil
	}
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	data, err := appendJSON(buffer.AvailableBuffer(), parameters, asWritten, 0)
	if err != nil {
		return in, err
	}
	return in, d.Decode(data, &in)
}

// buffers are for encoding. What is decoded from them, or taken out of them, is copied.
var buffers = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, 1024)) }}

// resultOf makes the result of what a function returned.
func resultOf(out any) (Result, error) {
	switch v := out.(type) {
	case Result:
		return v, nil
	case string:
		return Result{Text: v, Value: v}, nil
	case struct{}:
		return Result{Text: "done", Value: map[string]any{}}, nil
	case json.RawMessage:
		return Result{Text: string(v), Value: v}, nil
	}
	shown, err := encode(out)
	if err != nil {
		return Result{}, fmt.Errorf("the result cannot be written as JSON: %w", err)
	}
	return Result{Text: shown, Value: out}, nil
}

// encode writes a value as JSON, as encoding/json does but with <, > and & as they are.
func encode(v any) (string, error) {
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	e := json.NewEncoder(buffer)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))), nil
}
