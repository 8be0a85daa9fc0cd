// Package publicapi holds the public packages to rules about what a stranger sees of
// them: no internal types, a package comment, and an example.
package publicapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// packages are the folders of all public packages.
var packages = func() (dirs []string) {
	skip := []string{"internal", "cmd", "testdata", "bench", "conformance", "tools", "examples", "docs", "deploy", "beam", "e2e"}
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "../.." {
			if strings.HasPrefix(d.Name(), ".") || slices.Contains(skip, d.Name()) {
				return filepath.SkipDir
			}
			if sources, _ := filepath.Glob(filepath.Join(path, "*.go")); len(sources) > 0 {
				dir, err := filepath.Rel("../..", path)
				if err != nil {
					return err
				}
				dirs = append(dirs, dir)
			}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return dirs
}()

// files parses the Go files of a package.
func files(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	out := map[string]*ast.File{}
	for _, name := range names {
		if out[name], err = parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestNoInternalTypes holds that no exported declaration names a type of an internal
// package.
func TestNoInternalTypes(t *testing.T) {
	for _, dir := range packages {
		for name, f := range files(t, dir) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			internal := map[string]bool{}
			for _, imp := range f.Imports {
				path, err := strconv.Unquote(imp.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(path, "/internal/") {
					internal[filepath.Base(path)] = true
					if imp.Name != nil {
						internal[imp.Name.Name] = true
					}
				}
			}
			for _, decl := range f.Decls {
				for _, x := range exposed(decl) {
					ast.Inspect(x, func(n ast.Node) bool {
						if s, ok := n.(*ast.SelectorExpr); ok {
							if p, ok := s.X.(*ast.Ident); ok && internal[p.Name] {
								t.Errorf("%s names %s.%s in public", name, p.Name, s.Sel.Name)
							}
						}
						return true
					})
				}
			}
		}
	}
}

// exposed are the parts of a declaration that a stranger sees.
func exposed(decl ast.Decl) (list []ast.Node) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv.List[0].Type)) {
			list = append(list, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					list = append(list, exposedType(s.Type)...)
				}
			case *ast.ValueSpec:
				if s.Type != nil && s.Names[0].IsExported() {
					list = append(list, s.Type)
				}
			}
		}
	}
	return list
}

func exportedReceiver(x ast.Expr) bool {
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			x = id
			return false
		}
		return true
	})
	id, ok := x.(*ast.Ident)
	return ok && id.IsExported()
}

// exposedType are the parts of a type that a stranger sees: of a struct its exported
// fields, of an interface its exported methods.
func exposedType(x ast.Expr) (list []ast.Node) {
	var fields *ast.FieldList
	switch t := x.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return []ast.Node{x}
	}
	for _, f := range fields.List {
		if len(f.Names) == 0 || f.Names[0].IsExported() {
			list = append(list, f.Type)
		}
	}
	return list
}

// TestDocumented holds that each package has a package comment and a runnable example.
func TestDocumented(t *testing.T) {
	for _, dir := range packages {
		comment, example := false, false
		for name, f := range files(t, dir) {
			if !strings.HasSuffix(name, "_test.go") {
				comment = comment || f.Doc != nil
				continue
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			example = example || strings.Contains(string(data), "func Example") && strings.Contains(string(data), "// Output:")
		}
		if !comment || !example {
			t.Errorf("%s: package comment %v, example with output %v", dir, comment, example)
		}
	}
}
