package conformance

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/callwright/callwright/adapters"
	adapter "github.com/callwright/callwright/adapters/bedrock"
)

func TestBedrock(t *testing.T) {
	url, ask := server(t, adapter.Converse, func(path string, _ *adapters.Request) bool { return strings.HasSuffix(path, "converse-stream") })
	client := bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(url), Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	})
	messages := []types.Message{
		{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "Weather?"}}},
		{Role: types.ConversationRoleAssistant, Content: []types.ContentBlock{&types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
			ToolUseId: aws.String("c1"), Name: aws.String("get_weather"), Input: document.NewLazyDocument(map[string]any{"city": "Rome"}),
		}}}},
		{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{
			ToolUseId: aws.String("c1"), Content: []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: "sunny"}},
		}}}},
	}
	system := []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: "Be brief."}}
	tools := &types.ToolConfiguration{Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{
		Name: aws.String("get_weather"), Description: aws.String("The weather."),
		InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(parameters(t))},
	}}}}
	ctx := context.Background()
	whole, err := client.Converse(
		ctx, &bedrockruntime.ConverseInput{ModelId: aws.String("m"), Messages: messages, System: system, ToolConfig: tools},
	)
	if err != nil {
		t.Fatal(err)
	}
	asked(t, <-ask, "")
	var text, thinking string
	var arguments, names []string
	for _, b := range whole.Output.(*types.ConverseOutputMemberMessage).Value.Content {
		switch v := b.(type) {
		case *types.ContentBlockMemberText:
			text += v.Value
		case *types.ContentBlockMemberReasoningContent:
			thinking = *v.Value.(*types.ReasoningContentBlockMemberReasoningText).Value.Text
		case *types.ContentBlockMemberToolUse:
			raw, err := v.Value.Input.MarshalSmithyDocument()
			if err != nil {
				t.Fatal(err)
			}
			arguments, names = append(arguments, string(raw)), append(names, *v.Value.Name)
		}
	}
	said(t, text, arguments[0], arguments[1], names...)
	if thinking != "Two cities." || whole.StopReason != types.StopReasonToolUse || *whole.Usage.OutputTokens != 50 ||
		*whole.Usage.CacheReadInputTokens != 30 {
		t.Errorf("%q %q %+v", thinking, whole.StopReason, whole.Usage)
	}
	out, err := client.ConverseStream(
		ctx, &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: messages, System: system, ToolConfig: tools},
	)
	if err != nil {
		t.Fatal(err)
	}
	text, thinking, names, arguments = "", "", nil, nil
	var stop types.StopReason
	var tokens int32
	stream := out.GetStream()
	for e := range stream.Events() {
		switch v := e.(type) {
		case *types.ConverseStreamOutputMemberContentBlockStart:
			if use, ok := v.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
				names, arguments = append(names, *use.Value.Name), append(arguments, "")
			}
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			switch d := v.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				text += d.Value
			case *types.ContentBlockDeltaMemberToolUse:
				arguments[len(arguments)-1] += *d.Value.Input
			case *types.ContentBlockDeltaMemberReasoningContent:
				if r, ok := d.Value.(*types.ReasoningContentBlockDeltaMemberText); ok {
					thinking += r.Value
				}
			}
		case *types.ConverseStreamOutputMemberMessageStop:
			stop = v.Value.StopReason
		case *types.ConverseStreamOutputMemberMetadata:
			tokens = *v.Value.Usage.OutputTokens
		}
	}
	// The client may close the connection while it still reads what stands behind the last
	// event; that all events have come is checked below.
	if err := stream.Err(); err != nil && !strings.Contains(err.Error(), net.ErrClosed.Error()) {
		t.Fatal(err)
	}
	asked(t, <-ask, "")
	if len(arguments) != 2 {
		t.Fatalf("calls: %q", names)
	}
	said(t, text, arguments[0], arguments[1], names...)
	if thinking != "Two cities." || stop != types.StopReasonToolUse || tokens != 50 {
		t.Errorf("%q %q %d", thinking, stop, tokens)
	}
}

// TestBedrockFails has the client read a stream that fails.
func TestBedrockFails(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", adapter.Converse.ContentType)
		e := adapter.Converse.NewEncoder(w)
		err := errors.Join(e.Event(adapters.Event{Type: adapters.EventText, Text: "I was about to"}),
			e.Fail(&adapters.ProviderError{Message: "too many requests"}), e.End())
		if err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	client := bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(s.URL), Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	})
	out, err := client.ConverseStream(context.Background(), &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m")})
	if err != nil {
		t.Fatal(err)
	}
	stream := out.GetStream()
	for range stream.Events() {
		continue // only the end counts
	}
	var failed *types.InternalServerException
	if err := stream.Err(); !errors.As(err, &failed) || *failed.Message != "too many requests" {
		t.Errorf("%v", err)
	}
}
