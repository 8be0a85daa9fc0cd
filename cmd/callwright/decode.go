package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/parser"
)

// structured is the answer to the question for JSON in a text.
type structured struct {
	// Success says that there is JSON and that it fits the schema.
	Success bool `json:"success"`
	*parser.Decoded
	Error string `json:"error,omitempty"`
}

// decode answers parse --schema: exit code 0 if the JSON fits, 1 if there is none
// or it does not.
func decode(c *cobra.Command, text string, f *flags, file string, keys []string) error {
	o := parser.DecodeOptions{Keys: keys, NoRepairs: f.strict}
	o.Validation.Lossy, o.Validation.NoCoercion = f.lossy, f.strict
	if file != "" {
		var err error
		if o.Schema, err = readSchemaFile(file); err != nil {
			return err
		}
	}
	s, err := decodeText(c.Context(), []byte(text), f.format, o)
	if err != nil {
		return err
	}
	if err := writeJSON(c.OutOrStdout(), s, "  "); err != nil {
		return err
	}
	if !s.Success {
		return errNoCalls
	}
	return nil
}

// readSchemaFile reads a JSON Schema; nil stands for any JSON, for which the file has true.
func readSchemaFile(file string) (map[string]any, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	schema, err := readSchema(bytes.TrimPrefix(data, []byte(byteOrderMark)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return schema, nil
}

// readSchema reads a JSON Schema, or true.
func readSchema(data []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not a JSON Schema: text behind the JSON")
	}
	if value == true {
		return nil, nil
	}
	schema, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("not a JSON Schema: must be an object, or true for any JSON")
	}
	return schema, nil
}

// decodeText finds the JSON in a text, or in that of a provider's reply.
func decodeText(ctx context.Context, data []byte, format string, o parser.DecodeOptions) (*structured, error) {
	text, cut := string(data), false
	if d := replyFormat(data, &parser.Context{Format: format}); d.Format != nil {
		reply, err := formats.Read(d.Format, data, adapters.Limits{MaxTotalBytes: maxInput})
		if reply == nil {
			return nil, err
		}
		text, cut = reply.Text(), err != nil || reply.First().Finish == adapters.FinishLength
	}
	d, err := parser.DecodeSchema(ctx, text, o)
	if errors.Is(err, parser.ErrNoJSON) {
		return &structured{
			Decoded: &parser.Decoded{StructuredData: map[string]any{}, Validation: parser.Validation{Errors: []string{parser.ErrNoJSON.Error()}}},
			Error:   err.Error(),
		}, nil
	}
	if err != nil {
		return nil, err
	}
	d.JSONTruncated = d.JSONTruncated || cut
	return &structured{Success: d.Validation.Success, Decoded: d}, nil
}

// decodeLine answers a line of batch that asks for JSON.
func decodeLine(ctx context.Context, fields map[string]json.RawMessage) (*structured, error) {
	var o parser.DecodeOptions
	if raw, ok := fields["schema"]; ok {
		var err error
		if o.Schema, err = readSchema(raw); err != nil {
			return nil, fmt.Errorf("\"schema\": %w", err)
		}
	}
	if raw, ok := fields["keys"]; ok {
		if err := json.Unmarshal(raw, &o.Keys); err != nil {
			return nil, fmt.Errorf("\"keys\": %w", err)
		}
	}
	if raw, ok := fields["reply"]; ok {
		return decodeText(ctx, replyBytes(raw), "", o)
	}
	text, chunks, err := textOf(fields)
	if err != nil {
		return nil, err
	}
	return decodeText(ctx, []byte(text+strings.Join(chunks, "")), textFormat, o)
}
