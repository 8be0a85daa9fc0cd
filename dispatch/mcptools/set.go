package mcptools

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/callwright/callwright/dispatch"
)

// Set is the tools of several servers.
type Set struct {
	Tools []dispatch.Tool
	// Rules allow what the servers' configurations allow. They are for the end of a
	// policy's own rules.
	Rules []dispatch.Rule
	// Failed says which servers cannot be used, with the reason.
	Failed []error

	clients []*Client
}

// Open connects to servers, all at the same time, and lists their tools. Servers that
// cannot be reached are among Failed: the others go on without them. The set must be
// closed. The error is that of servers that are wrong in themselves, and of tools whose
// names are the same.
func Open(ctx context.Context, servers ...Server) (*Set, error) {
	set := &Set{}
	for _, s := range servers {
		c, err := New(s)
		if err != nil {
			return nil, err
		}
		set.clients = append(set.clients, c)
	}
	tools := make([][]dispatch.Tool, len(servers))
	failed := make([]error, len(servers))
	var group sync.WaitGroup
	for i, c := range set.clients {
		group.Go(func() { tools[i], failed[i] = c.Tools(ctx) })
	}
	group.Wait()
	seen := map[string]string{}
	for i, c := range set.clients {
		if failed[i] != nil {
			set.Failed = append(set.Failed, failed[i])
			continue
		}
		for j := range tools[i] {
			name := tools[i][j].Name
			if other, twice := seen[name]; twice {
				err := fmt.Errorf("the servers %s and %s both have a tool %q: give them labels", other, c.server.label(), name)
				return nil, errors.Join(err, set.Close())
			}
			seen[name] = c.server.label()
		}
		set.Tools = append(set.Tools, tools[i]...)
		set.Rules = append(set.Rules, c.Rules(tools[i])...)
	}
	return set, nil
}

// Close ends the connections and the programs, all at the same time.
func (s *Set) Close() error {
	errs := make([]error, len(s.clients))
	var group sync.WaitGroup
	for i, c := range s.clients {
		group.Go(func() { errs[i] = c.Close() })
	}
	group.Wait()
	return errors.Join(errs...)
}
