package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of a tool's schema, which may be hostile.
const (
	maxSchemaNodes = 5_000 // the compiler's time grows with their square
	maxSchemaDepth = 64
	maxSchemaBytes = 256 << 10
)

// SchemaError says what is wrong with a tool's schema. The tool is usable without it,
// unless the registry is strict.
type SchemaError struct {
	Tool string
	Path string // JSON pointer into the schema
	Err  error
}

func (e *SchemaError) Error() string {
	at := e.Path
	if at == "" {
		at = "/"
	}
	return fmt.Sprintf("tool %q: schema at %s: %v", e.Tool, at, e.Err)
}

// Unwrap returns the cause.
func (e *SchemaError) Unwrap() error { return e.Err }

// Causes of a [SchemaError]. Others are those of the schema's compiler.
var (
	ErrSchemaTooLarge = errors.New("schema is too large or expands too far")
	ErrSchemaLoads    = errors.New("schema refers outside itself, which is not allowed")
	ErrSchemaCycle    = errors.New("schema applies itself to the same value again and again: a reference must lead into a property or an item")
)

type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// size is about how many bytes a JSON value takes. A value that nests too deep for a schema
// has a size that is too large for one.
func size(v any, depth int) int {
	if depth > 2*maxSchemaDepth {
		return maxSchemaBytes + 1
	}
	n := 4
	switch v := v.(type) {
	case string:
		n += len(v)
	case json.Number:
		n += len(v)
	case []any:
		for _, e := range v {
			n += size(e, depth+1)
		}
	case map[string]any:
		for k, e := range v {
			n += len(k) + size(e, depth+1)
		}
	}
	return n
}

// counts is how large a schema is.
type counts struct {
	nodes, bytes, instructions int
}

// What a compiled schema takes in memory, about, in bytes: for each of its schemas, for
// each byte of what else it holds, and for each instruction of its patterns.
const (
	nodeBytes        = 3 << 10
	instructionBytes = 64
)

func (c counts) compiledBytes() int {
	return nodeBytes*(c.nodes+1) + 2*c.bytes + instructionBytes*c.instructions
}

// noLoader loads no schemas.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, ErrSchemaLoads }

// compile compiles a schema that was cleaned, and bounds what applying it may cost.
func compile(cleaned map[string]any) (compiled *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			compiled, err = nil, fmt.Errorf("the schema cannot be compiled: %v", p)
		}
	}()
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(newPatterns().compile)
	compiler.AssertFormat()
	if err := compiler.AddResource("tool:///schema.json", cleaned); err != nil {
		return nil, err
	}
	compiled, err = compiler.Compile("tool:///schema.json")
	if err != nil {
		return nil, schemaCause(err)
	}
	if err := bound(compiled); err != nil {
		return nil, err
	}
	return compiled, nil
}

// schemaCause finds the place in the schema that a compiler's error speaks of.
func schemaCause(err error) error {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		var verr *jsonschema.ValidationError
		if errors.As(invalid.Err, &verr) {
			for len(verr.Causes) > 0 {
				verr = verr.Causes[0]
			}
			return &pathError{"/" + strings.Join(verr.InstanceLocation, "/"), errors.New(verr.Error())}
		}
	}
	return err
}
