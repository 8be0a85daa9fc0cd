package dialect

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Parse reads a set from YAML: a list of dialects, or an object with the lists
// "dialects", "reasoning", "turns" and "regions". An error of a row is an [*Error]
// with the line and the field where one is known.
func Parse(data []byte) (Set, error) {
	var s Set
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return s, fmt.Errorf("not YAML: %w", err)
	}
	if len(doc.Content) == 0 {
		return s, nil
	}
	root := doc.Content[0]
	var err error
	if root.Kind != yaml.MappingNode {
		s.Dialects, err = parseRows[Row](root, "dialects")
		return s, err
	}
	for i := 0; i+1 < len(root.Content) && err == nil; i += 2 {
		key, list := root.Content[i], root.Content[i+1]
		switch key.Value {
		case "dialects":
			s.Dialects, err = parseRows[Row](list, key.Value)
		case "reasoning":
			s.Reasoning, err = parseRows[Reasoning](list, key.Value)
		case "turns":
			s.Turns, err = parseRows[Turn](list, key.Value)
		case "regions":
			s.Regions, err = parseRows[Region](list, key.Value)
		default:
			err = &Error{Line: key.Line, Field: key.Value, Err: errors.New("must be dialects, reasoning, turns or regions")}
		}
	}
	if err != nil {
		return Set{}, err
	}
	return s, nil
}

// row is a pointer to a row of any kind.
type row[T any] interface {
	*T
	Check() error
}

// parseRows reads a list of rows of one kind.
func parseRows[T any, P row[T]](list *yaml.Node, field string) ([]T, error) {
	if list.Kind != yaml.SequenceNode {
		return nil, &Error{Line: list.Line, Field: field, Err: errors.New("must be a list")}
	}
	rows := make([]T, 0, len(list.Content))
	for _, n := range list.Content {
		var r T
		if err := parseRow(n, &r, field); err != nil {
			return nil, err
		}
		if err := P(&r).Check(); err != nil {
			var e *Error
			if errors.As(err, &e) {
				e.Line = fieldLine(n, e.Field)
			}
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// parseRow reads one row field by field, so that an error names the field.
func parseRow(n *yaml.Node, r any, field string) error {
	if n.Kind != yaml.MappingNode {
		return &Error{Line: n.Line, Field: field, Err: errors.New("each element must be an object")}
	}
	name := ""
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "name" {
			name = n.Content[i+1].Value
		}
	}
	if err := knownFields(n, reflect.TypeOf(r).Elem(), "", name); err != nil {
		return err
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		one := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: n.Content[i : i+2]}
		if err := one.Decode(r); err != nil {
			return &Error{Dialect: name, Line: n.Content[i].Line, Field: n.Content[i].Value, Err: err}
		}
	}
	return nil
}

// knownFields reports a key of an object for which a struct has no field.
func knownFields(n *yaml.Node, t reflect.Type, prefix, name string) error {
	if n.Kind != yaml.MappingNode {
		return nil // the decoder says what is wrong
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f := slices.IndexFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
			tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			return tag == key.Value
		})
		if f < 0 {
			return &Error{Dialect: name, Line: key.Line, Field: prefix + key.Value, Err: errors.New("there is no such field")}
		}
		if inner := t.Field(f).Type; inner.Kind() == reflect.Struct {
			if err := knownFields(value, inner, prefix+key.Value+".", name); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldLine returns the line of a row's field, such as "options.stop" or
// "reasoning.open", or else of the row.
func fieldLine(n *yaml.Node, field string) int {
	line := n.Line
	for part := range strings.SplitSeq(field, ".") {
		for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
			if n.Content[i].Value == part {
				line, n = n.Content[i].Line, n.Content[i+1]
				break
			}
		}
	}
	return line
}
