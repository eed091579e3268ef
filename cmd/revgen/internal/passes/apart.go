package passes

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"unicode"
)

// The compiler compiles an instance of a generic type, with all its methods, in each package that
// names it. Kernels of the library are named in many packages. Their mathematics therefore stands
// in functions, such as
//
//	func dotRun[T rev.Number](k *Dot[T], p *rev.Pass[Dot[T]]) error
//
// in place of the method Run, and the methods of Dot only call a function that is not generic:
//
//	func (k Dot[T]) Forward() {
//		_ = dotCall(passkind.Forward+passkind.Of[T](), unsafe.Pointer(&k), nil, nil, nil)
//	}
//
//	//go:noinline
//	func dotCall(kind passkind.Kind, k, g, t, gt unsafe.Pointer) error {
//		switch kind {
//		case passkind.Forward+passkind.Float64:
//			return dotRunForward((*Dot[float64])(k))
//		...
//
// Only this function calls dotRunForward, which checks the operands and calls dotRun. Both are
// compiled once for each type of numbers, in the package of Dot. The function is not inlined, or
// what it calls would be compiled where it is inlined.

// apart is what is known of a kernel whose Run is a function.
type apart struct {
	params    string      // of its type, with constraints: [T rev.Real]
	numbers   string      // says which of the instances it is
	instances [][2]string // type arguments, for all numbers that its constraints allow, and their names
}

// members are the types that constraints allow. Those that are used most come first.
var members = map[string][]string{
	"rev.Float":       {"float64", "float32"},
	"rev.Real":        {"float64", "float32", "fixed.Q43"},
	"rev.Number":      {"float64", "float32", "fixed.Q43", "complex128"},
	"Index":           {"int", "int32"}, // of package revsparse
	"revsparse.Index": {"int", "int32"},
}

// function returns the name of the function in place of a method: dotRun for Dot.Run.
func (k *kernel) function(method string) string {
	if method == "run" {
		method = "products"
	}
	r := []rune(k.name)
	for i := range r {
		if !unicode.IsUpper(r[i]) || i > 0 && i+1 < len(r) && unicode.IsLower(r[i+1]) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	return string(r) + strings.ToUpper(method[:1]) + method[1:]
}

// functionOf returns the function in place of a method of k, or nil if there is none. Its first parameter
// points to a kernel.
func (p *pkg) functionOf(k *kernel, method string) *ast.FuncDecl {
	f := p.funcs[k.function(method)]
	if f == nil || f.Type.Params.NumFields() == 0 || !strings.HasPrefix(types.ExprString(f.Type.Params.List[0].Type), "*"+k.name+"[") {
		return nil
	}
	return f
}

// findApart sets k.apart if functions stand in place of methods.
func (p *pkg) findApart(k *kernel) error {
	run := p.functionOf(k, "Run")
	if k.run != nil || k.spec == nil || !ast.IsExported(k.name) || len(k.operands) == 0 || run == nil && p.functionOf(k, "addProduct") == nil {
		return nil
	}
	k.run, k.apart = run, &apart{}
	var params, numbers []string
	for _, f := range k.typeParams() {
		constraint := types.ExprString(f.Type)
		of := "Of"
		if strings.HasSuffix(constraint, "Index") {
			of = "OfIndex"
		}
		for _, name := range f.Names {
			params = append(params, name.Name+" "+constraint)
			numbers = append(numbers, "passkind."+of+"["+name.Name+"]()")
		}
	}
	if params == nil {
		return fmt.Errorf("%s is not generic, so Run must be a method", k.name)
	}
	k.apart.params = "[" + strings.Join(params, ", ") + "]"
	k.apart.numbers = strings.Join(numbers, "+")
	instances, err := p.instancesOf(k)
	k.apart.instances = instances
	return err
}

// instancesOf returns the type arguments of the instances of k, and the names of the numbers: see apart.
func (p *pkg) instancesOf(k *kernel) (list [][2]string, err error) {
	instances := [][2][]string{{}}
	for _, f := range k.typeParams() {
		constraint := types.ExprString(f.Type)
		if members[constraint] == nil || constraint == "Index" && p.name != "revsparse" {
			return nil, fmt.Errorf("%s: the constraint %s may allow any types, so Run must be a method", k.name, constraint)
		}
		for range f.Names {
			var more [][2][]string
			for _, i := range instances {
				for _, t := range members[constraint] {
					short := strings.TrimPrefix(t, "fixed.")
					more = append(more, [2][]string{append(slices.Clip(i[0]), t), append(slices.Clip(i[1]), "passkind."+strings.ToUpper(short[:1])+short[1:])})
				}
			}
			instances = more
		}
	}
	for _, i := range instances {
		list = append(list, [2]string{strings.Join(i[0], ", "), strings.Join(i[1], "+")})
	}
	return list, nil
}

// table returns the function that has the instances of kernels, those with indices of type int alone.
func (p *pkg) table(kernels []*kernel) (string, error) {
	var out strings.Builder
	out.WriteString("\n// instances returns the kernels of this package. Package rules/internal/catalog gets it by its name in the linker:\n// if it named the types, it would compile their methods again.\n//\n//go:linkname instances\nfunc instances() []byname.Instance {\nreturn []byname.Instance{\n")
	p.imports[`"revnum/internal/byname"`] = true
	if !p.imports[`"unsafe"`] {
		p.imports[`_ "unsafe"`] = true // which go:linkname wants
	}
	for _, k := range kernels {
		list, err := p.instancesOf(k)
		if err != nil {
			return "", err
		}
		for _, i := range list {
			if strings.HasSuffix(i[0], "int32") {
				continue
			}
			name := k.name
			if i[0] != "" {
				name += "[" + i[0] + "]"
			}
			if strings.Contains(i[0], "fixed.") {
				p.imports[`"revnum/fixed"`] = true
			}
			fmt.Fprintf(&out, "byname.InstanceOf[%s](),\n", name)
		}
	}
	out.WriteString("}\n}\n")
	return out.String(), nil
}

// docOf returns the comment of the function in place of a method as that of the method.
func (k *kernel) docOf(method string, d *ast.FuncDecl) string {
	text := d.Doc.Text()
	is := fmt.Sprintf("%s is %s of %s.", k.function(method), method, k.name)
	if of := map[string]string{"Run": "Kernel", "RunChecked": "Checker"}[method]; of != "" && strings.HasPrefix(text, is) {
		return method + " implements rev." + of + "." + text[len(is):]
	}
	return strings.Replace(text, k.function(method), method, 1)
}

// writeApart returns the methods of k, and the functions that they call. check is the function of
// this name, or empty.
func (p *pkg) writeApart(k *kernel, check string, bilinear bool) (string, error) {
	call := k.function("Call")
	for _, name := range []string{"Call", "RunForward", "RunInverse", "RunAdjoint", "RunTangent", "RunAdjointTangent"} {
		if p.has(k, name) {
			return "", fmt.Errorf("%s is the name of a function that is written for %s", k.function(name), k.name)
		}
	}
	for _, path := range []string{revPath, `"revnum/internal/passkind"`, `"unsafe"`} {
		p.imports[path] = true
	}
	for _, f := range k.typeParams() {
		if path := k.importOf(types.ExprString(f.Type)); path != "" {
			p.imports[path] = true
		}
	}
	for _, i := range k.apart.instances {
		if strings.Contains(i[0], "fixed.") {
			p.imports[`"revnum/fixed"`] = true
		}
	}
	pointer := func(x string) string { return "unsafe.Pointer(" + x + ")" }
	run := k.function("Run") + "(k, &rev.Pass[%s]{%s})"
	runChecked := k.function("Run") + "((*%s)(k), (*rev.Pass[%[1]s])(g))"
	const none = "nil, nil, nil"
	var out, bodies, cases strings.Builder
	addCases := func(pass, call string) {
		for _, i := range k.apart.instances {
			fmt.Fprintf(&cases, "case passkind.%s+%s:\nreturn %s\n", pass, i[1], fmt.Sprintf(call, k.name+"["+i[0]+"]"))
		}
	}
	typ, comments := k.instance(nil), k.comments()
	for i, name := range []string{"Forward", "Inverse", "Adjoint", "Tangent", "AdjointTangent"} {
		if p.declared[k.name+"."+name] || name == "AdjointTangent" && !k.hasSecond() {
			continue
		}
		names := [...]string{"", "", "g", "t", "g, t, gt"}[i]
		params, args := "", [...]string{none, none, pointer("&g") + ", nil, nil", pointer("&t") + ", nil, nil", pointer("&g") + ", " + pointer("&t") + ", " + pointer("&gt")}[i]
		if names != "" {
			params = names + " " + typ
		}
		result, returns := "", "_ ="
		if k.returnsError() {
			result, returns = "error", "return"
		}
		fmt.Fprintf(&out, "\n%sfunc (k %s) %s(%s) %s { %s %s(passkind.%[3]s+%[8]s, unsafe.Pointer(&k), %[9]s) }\n", wrapped(name+" "+comments[i]+"."), typ, name, params, result, returns, call, k.apart.numbers, args)

		checked := [...]string{"nil, nil", "nil, nil", "g, nil", "nil, t", "g, t, gt"}[i]
		switch {
		case name == "AdjointTangent":
			checked = "rev.Check(k, " + checked + ")"
		case check != "":
			checked = k.function("check") + "(k, " + checked + ")"
		default:
			checked = "rev.Check(k, " + checked + ", nil)"
		}
		fields := [...]string{"", "Back: true", "Back: true, Adjoint: true, G: *g", "Tangent: true, T: *t", "Back: true, Adjoint: true, Tangent: true, G: *g, T: *t, GT: *gt"}[i]
		given := [...]string{"k", "k", "k, g", "k, t", "k, g, t, gt"}[i]
		fmt.Fprintf(&bodies, "\nfunc %s%s(%s *%s) error {\n%s\nreturn %s\n}\n", k.function("Run"+name), k.apart.params, given, typ, checked, fmt.Sprintf(run, typ, fields))
		addCases(name, k.function("Run"+name)+[...]string{"((*%s)(k))", "((*%s)(k))", "((*%s)(k), (*%[1]s)(g))", "((*%s)(k), (*%[1]s)(g))", "((*%s)(k), (*%[1]s)(g), (*%[1]s)(t), (*%[1]s)(gt))"}[i])
	}
	doc := "Run implements rev.Kernel. It returns no error.\n"
	if k.run != nil {
		doc = k.docOf("Run", k.run)
	}
	fmt.Fprintf(&out, "\n%sfunc (k %s) Run(p rev.Pass[%[2]s]) error { return %s(passkind.Checked+%s, unsafe.Pointer(&k), unsafe.Pointer(&p), nil, nil) }\n", commented(doc), typ, call, k.apart.numbers)
	addCases("Checked", runChecked)
	out.WriteString(k.dispatcher(call, "makes a pass", "k, g, t, gt unsafe.Pointer", "error", cases.String()))
	out.WriteString(bodies.String())
	if d := p.funcs[k.function("RunChecked")]; d != nil {
		call := k.function("CallChecked")
		fmt.Fprintf(&out, "\n%sfunc (k %s) RunChecked(back bool) error { return %s(%s, unsafe.Pointer(&k), back) }\n", commented(k.docOf("RunChecked", d)), typ, call, k.apart.numbers)
		out.WriteString(k.byNumbers(call, "is RunChecked", "k unsafe.Pointer, back bool", "error", d.Name.Name+"((*%s)(k), back)"))
	}
	if d := p.funcs[k.function("RunEach")]; d != nil {
		call := k.function("CallEach")
		fmt.Fprintf(&out, "\n%sfunc (k %s) RunEach(pass, second, secondPass any, n int) int { return %s(%s, unsafe.Pointer(&k), pass, second, secondPass, n) }\n", commented(k.docOf("RunEach", d)), typ, call, k.apart.numbers)
		out.WriteString(k.byNumbers(call, "is RunEach", "k unsafe.Pointer, pass, second, secondPass any, n int", "int", d.Name.Name+"((*%s)(k), pass, second, secondPass, n)"))
	}
	out.WriteString(check)
	if bilinear {
		text, err := k.bilinear()
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// dispatcher returns a function that is not generic, with cases for all numbers.
func (k *kernel) dispatcher(name, does, params, result, cases string) string {
	return fmt.Sprintf("\n// %s %s of a *%s.\n//\n//go:noinline\nfunc %[1]s(kind passkind.Kind, %[4]s) %s {\nswitch kind {\n%s}\npanic(\"no such numbers\")\n}\n", name, does, k.name, params, result, cases)
}

// byNumbers returns a function that is not generic. It makes a call, which has a verb for the type of
// the kernel, over any numbers.
func (k *kernel) byNumbers(name, does, params, result, call string) string {
	var cases strings.Builder
	for _, i := range k.apart.instances {
		fmt.Fprintf(&cases, "case %s:\nreturn %s\n", i[1], fmt.Sprintf(call, k.name+"["+i[0]+"]"))
	}
	return k.dispatcher(name, does, params, result, cases.String())
}

// commented returns text as a comment.
func commented(text string) string {
	lines := slices.Collect(strings.Lines(text))
	for i, l := range lines {
		lines[i] = strings.TrimRight("// "+l, " \n") + "\n"
		if strings.HasPrefix(l, "\t") {
			lines[i] = "//" + l
		}
	}
	return strings.Join(lines, "")
}
