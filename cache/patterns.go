package cache

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Kind says what a pattern is about.
type Kind string

// The kinds.
const (
	// KindDialect is a dialect in which a model writes its calls.
	KindDialect Kind = "dialect"
	// KindRepair is a repair, or the fix of a known issue, that a model's calls need.
	KindRepair Kind = "repair"
)

// Bounds of the patterns.
const (
	DefaultMaxModels = 256
	maxNames         = 64
	// maxTried bounds the counts: there both are halved, so that recent ones count more.
	maxTried = 1 << 12
)

// Pattern counts how often a dialect or a repair was tried, and worked.
type Pattern struct {
	Name   string `json:"name"`
	Tried  int    `json:"tried"`
	Worked int    `json:"worked"`
}

// SuccessRate is the share of the tries that worked, from 0 to 1, drawn towards 0.5 if
// there were few.
func (p Pattern) SuccessRate() float64 { return (float64(p.Worked) + 0.5) / (float64(p.Tried) + 1) }

// Patterns count which dialects and repairs work for a model, by tenant: no tenant sees
// another's. They only change what is tried first. They are safe for concurrent use.
type Patterns struct {
	mu     sync.Mutex
	models *lru.Cache[patternKey, map[patternName]*Pattern]
}

type patternKey struct{ tenant, model string }

type patternName struct {
	kind Kind
	name string
}

// NewPatterns returns patterns for at most so many pairs of tenant and model; 0 means
// [DefaultMaxModels]. The error is [ErrOptions].
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

// Learn counts a try, and whether it worked. Without a model or a name it does nothing.
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

// Likeliest returns the patterns that worked for a model, the most likely first.
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
