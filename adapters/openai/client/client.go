// Package client asks models of any server that speaks OpenAI's chat completions.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/safehttp"
)

// Client asks one model of a server. It is safe for concurrent use.
type Client struct {
	url   *url.URL
	model string
	key   string
	http  *http.Client
}

// maxAnswer bounds a server's answer, in bytes.
const maxAnswer = 8 << 20

// New returns a client of a server, such as http://127.0.0.1:8000/v1, and one of its
// models. The key, if there is one, is sent as a bearer token to that server only.
func New(baseURL, model, key string) (*Client, error) {
	u, err := safehttp.ParseURL(baseURL)
	if err != nil {
		return nil, err
	}
	if model == "" {
		return nil, errors.New("the repair model has no name")
	}
	return &Client{u.JoinPath("chat/completions"), model, key, safehttp.Client(safehttp.Transport(5*time.Second, 5*time.Minute))}, nil
}

// Complete asks the model, at temperature 0, and holds it to the prompt's schema where
// the server can. A server that refuses the schema is asked without.
func (c *Client) Complete(ctx context.Context, p fallback.Prompt) (string, error) {
	answer, err := c.complete(ctx, p)
	var failed *fallback.ModelError
	if errors.As(err, &failed) && failed.Status == http.StatusBadRequest && p.Schema != nil {
		p.Schema = nil
		return c.complete(ctx, p)
	}
	return answer, err
}

func (c *Client) complete(ctx context.Context, p fallback.Prompt) (string, error) {
	r := &adapters.Request{
		Model: c.model, MaxTokens: int64(p.MaxTokens), Temperature: json.Number("0"),
		Messages: []adapters.Message{
			{Role: adapters.RoleSystem, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: p.System}}},
			{Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: p.User}}},
		},
	}
	if p.Schema != nil {
		r.Response = &adapters.ResponseFormat{Name: "repaired_calls", Schema: p.Schema}
	}
	body, err := openai.Chat.EncodeRequest(r)
	if err != nil {
		return "", err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	q.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		q.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.http.Do(q)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > maxAnswer:
		return "", &fallback.ModelError{Status: response.StatusCode, Message: fmt.Sprintf("the answer is larger than %d bytes", maxAnswer)}
	case response.StatusCode != http.StatusOK:
		message := http.StatusText(response.StatusCode)
		if reported := adapters.ErrorOf(data); reported != nil {
			message = reported.Error()
		}
		return "", &fallback.ModelError{Status: response.StatusCode, Message: message}
	}
	reply, err := openai.Chat.DecodeReply(data)
	if err != nil {
		return "", err
	}
	if reply.First().Finish == adapters.FinishLength {
		return "", &fallback.ModelError{Message: "the answer is longer than it may be"}
	}
	return reply.Text(), nil
}
