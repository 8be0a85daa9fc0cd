package cache

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Kind says what a pattern is of.
type Kind string

// The kinds.
const (
	// KindDialect is a dialect in which a model's calls were read.
	KindDialect Kind = "dialect"
	// KindRepair is a repair, or a known issue's fix, through which they were.
	KindRepair Kind = "repair"
)

// Bounds of what is learned.
const (
	DefaultMaxModels = 256
	maxNames         = 64
	// maxTried bounds the counts: beyond it both are halved, so that what a model did
	// lately counts more.
	maxTried = 1 << 12
)

// Pattern is what was learned of one dialect or repair.
type Pattern struct {
	Name   string `json:"name"`
	Tried  int    `json:"tried"`
	Worked int    `json:"worked"`
}

// SuccessRate is the share of the tries that worked, from 0 to 1, with a little doubt
// where there were few.
func (p Pattern) SuccessRate() float64 { return (float64(p.Worked) + 0.5) / (float64(p.Tried) + 1) }

// Patterns learn which dialects and repairs worked for a model of a tenant. They are
// for trying the likeliest first, and never decide what is taken. What one tenant
// teaches no other is told. They are safe for concurrent use.
type Patterns struct {
	mu     sync.Mutex
	models *lru.Cache[patternKey, map[patternName]*Pattern]
}

type patternKey struct{ tenant, model string }

type patternName struct {
	kind Kind
	name string
}

// NewPatterns returns patterns of at most so many models; 0 means 256.
func NewPatterns(maxModels int) (*Patterns, error) {
	if maxModels < 0 {
		return nil, fmt.Errorf("%w: %d models, must be 0 or more", ErrOptions, maxModels)
	}
	if maxModels == 0 {
		maxModels = DefaultMaxModels
	}
	models, err := lru.New[patternKey, map[patternName]*Pattern](maxModels)
	if err != nil {
		return nil, err
	}
	return &Patterns{models: models}, nil
}

// Learn notes that something was tried, and whether it worked.
func (p *Patterns) Learn(tenant, model string, kind Kind, name string, worked bool) {
	if model == "" || name == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.models.Get(patternKey{tenant, model})
	if !ok {
		known = map[patternName]*Pattern{}
		p.models.Add(patternKey{tenant, model}, known)
	}
	x := known[patternName{kind, name}]
	if x == nil {
		if len(known) >= maxNames {
			return
		}
		x = &Pattern{Name: name}
		known[patternName{kind, name}] = x
	}
	if x.Tried++; worked {
		x.Worked++
	}
	if x.Tried >= maxTried {
		x.Tried /= 2
		x.Worked /= 2
	}
}

// Likeliest returns what has worked for a model, the likeliest first.
func (p *Patterns) Likeliest(tenant, model string, kind Kind) []Pattern {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.models.Get(patternKey{tenant, model})
	if !ok {
		return nil
	}
	var list []Pattern
	for name, x := range known {
		if name.kind == kind && x.Worked > 0 {
			list = append(list, *x)
		}
	}
	slices.SortFunc(list, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(b.SuccessRate(), a.SuccessRate()), cmp.Compare(b.Worked, a.Worked), cmp.Compare(a.Name, b.Name))
	})
	return list
}
