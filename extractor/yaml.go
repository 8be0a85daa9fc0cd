package extractor

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// ParseDialects reads rows from YAML: a list of them, or an object with the list
// under "dialects". An error is a [*DialectError] with the line and the field
// where one is known.
func ParseDialects(data []byte) ([]Dialect, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	list := doc.Content[0]
	if list.Kind == yaml.MappingNode && len(list.Content) == 2 && list.Content[0].Value == "dialects" {
		list = list.Content[1]
	}
	if list.Kind != yaml.SequenceNode {
		return nil, &DialectError{Line: list.Line, Field: "dialects", Err: errors.New("must be a list of dialects")}
	}
	rows := make([]Dialect, 0, len(list.Content))
	for _, n := range list.Content {
		var row Dialect
		if err := decodeRow(n, &row); err != nil {
			return nil, err
		}
		if err := row.Check(); err != nil {
			var d *DialectError
			if errors.As(err, &d) {
				d.Line = fieldLine(n, d.Field)
			}
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// rowFields and optionFields are the words that a row may have.
var (
	rowFields    = []string{"name", "aliases", "models", "source", "open", "close", "body", "format", "options"}
	optionFields = []string{
		"lead", "between", "id", "id_first", "name_is_id", "prefix", "key_open", "key_close", "value_open", "value_close", "code", "tags", "quotes", "first_wins", "entities",
		"known", "section", "label", "input", "stop", "value_quotes", "header", "in_reasoning", "hash", "none",
	}
)

func decodeRow(n *yaml.Node, row *Dialect) error {
	if n.Kind != yaml.MappingNode {
		return &DialectError{Line: n.Line, Field: "dialects", Err: errors.New("each dialect must be an object")}
	}
	name := ""
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "name" {
			name = n.Content[i+1].Value
		}
	}
	if err := knownFields(n, rowFields, "", name); err != nil {
		return err
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "options" {
			if err := knownFields(n.Content[i+1], optionFields, "options.", name); err != nil {
				return err
			}
		}
		// One field at a time, so that an error names it.
		one := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: n.Content[i : i+2]}
		if err := one.Decode(row); err != nil {
			return &DialectError{Dialect: name, Line: n.Content[i].Line, Field: n.Content[i].Value, Err: err}
		}
	}
	return nil
}

func knownFields(n *yaml.Node, known []string, prefix, name string) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		found := false
		for _, k := range known {
			found = found || k == n.Content[i].Value
		}
		if !found {
			return &DialectError{Dialect: name, Line: n.Content[i].Line, Field: prefix + n.Content[i].Value, Err: errors.New("there is no such field")}
		}
	}
	return nil
}

// fieldLine returns the line of a row's field, or of the row.
func fieldLine(n *yaml.Node, field string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == field {
			return n.Content[i].Line
		}
	}
	return n.Line
}
