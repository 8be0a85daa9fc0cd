package agentcli_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/agentcli"
)

// The transcript of an agent program is parsed into its final text and its actions.
func ExampleParse() {
	transcript := `{"type":"thread.started","thread_id":"t1"}
{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"go.mod","exit_code":0}}
{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"There is one file."}}
{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":5}}
`
	run, err := agentcli.Parse(context.Background(), []byte(transcript), agentcli.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Agent, run.Status, run.Output)
	for _, a := range run.Actions {
		fmt.Println(a.Type, a.Tool, a.Result)
	}
	// Output:
	// codex success There is one file.
	// command shell go.mod
	// message
}
