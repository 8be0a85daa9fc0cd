// Package client asks models of an Ollama server, through Ollama's own client.
package client

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/safehttp"
)

// Client asks one model of an Ollama server. It is safe for concurrent use.
type Client struct {
	api   *api.Client
	model string
}

// New returns a client of a server, such as http://127.0.0.1:11434, and one of its
// models.
func New(baseURL, model string) (*Client, error) {
	u, err := safehttp.ParseURL(baseURL)
	if err != nil {
		return nil, err
	}
	if model == "" {
		return nil, errors.New("the repair model has no name")
	}
	// Loading a model may take long: the caller's context is what bounds it.
	return &Client{api.NewClient(u, safehttp.Client(safehttp.Transport(5*time.Second, 5*time.Minute))), model}, nil
}

// Complete asks the model, at temperature 0 and held to the prompt's schema.
func (c *Client) Complete(ctx context.Context, p fallback.Prompt) (string, error) {
	stream := false
	r := &api.ChatRequest{
		Model: c.model, Stream: &stream, Format: p.Schema, Think: &api.ThinkValue{Value: false},
		Messages: []api.Message{{Role: "system", Content: p.System}, {Role: "user", Content: p.User}},
		Options:  map[string]any{"temperature": 0, "num_predict": p.MaxTokens},
	}
	var answer strings.Builder
	reason := ""
	err := c.api.Chat(ctx, r, func(r api.ChatResponse) error {
		answer.WriteString(r.Message.Content)
		reason = r.DoneReason
		return nil
	})
	var status api.StatusError
	switch {
	case errors.As(err, &status):
		return "", &fallback.ModelError{Status: status.StatusCode, Message: status.ErrorMessage}
	case err != nil:
		return "", err
	case reason == "length":
		return "", &fallback.ModelError{Message: "the answer is longer than it may be"}
	}
	return answer.String(), nil
}
