package passes

import (
	"fmt"
	"go/ast"
	"strings"
)

const runComment = "Run implements rev.Kernel. It returns no error."

// A pass of a bilinear kernel z += B(x, y) is up to nine products. The kernel has methods for
// three of them, and the others are these with other operands:
//
//	addProduct(sign, z, x, y)   z += sign·B(x, y)
//	addLeft(gx, gz, y)          x̄ += the adjoint of x ↦ B(x, y) at z̄
//	addRight(gy, x, gz)         ȳ += the adjoint of y ↦ B(x, y) at z̄
//
// In the lines below, a call needs the operands before its colon. Calls that need the same first
// operand follow each other.
const products = `k.z: addProduct(sign, k.z, k.x, k.y)
t.z t.x: addProduct(sign, t.z, t.x, k.y)
t.z t.y: addProduct(sign, t.z, k.x, t.y)
g.z g.x: addLeft(g.x, g.z, k.y)
g.z g.y: addRight(g.y, k.x, g.z)
gt.z gt.x: addLeft(gt.x, gt.z, k.y)
gt.z gt.y: addRight(gt.y, k.x, gt.z)
g.z t.y gt.x: addLeft(gt.x, g.z, t.y)
g.z t.x gt.y: addRight(gt.y, t.x, g.z)`

// bilinear returns Run or, if the package declares Run and calls a method run for parts of the
// operands, that method.
func (k *kernel) bilinear() (string, error) {
	outputs, inputs := []operand{}, []operand{}
	for _, x := range k.operands {
		switch {
		case x.role == "acc":
			outputs = append(outputs, x)
		case x.role == "in" && (k.run == nil || !x.optional): // Run handles optional operands
			inputs = append(inputs, x)
		}
	}
	if len(outputs) != 1 || len(inputs) != 2 {
		return "", fmt.Errorf("%s has the methods of a bilinear kernel, and must have one acc operand and two in operands", k.name)
	}
	fields, present := []string{}, []string{}
	for i, x := range []operand{outputs[0], inputs[0], inputs[1]} {
		test := x.name + ".Data != nil"
		if _, ok := x.typ.(*ast.StarExpr); ok {
			test = x.name + " != nil"
		}
		letter := "." + string("zxy"[i])
		fields = append(fields, letter, "."+x.name)
		present = append(present, letter, "."+test)
	}
	field, test := strings.NewReplacer(fields...), strings.NewReplacer(present...)
	typ := k.instance(nil)
	var out strings.Builder
	switch {
	case k.apart != nil && k.run == nil:
		fmt.Fprintf(&out, "\nfunc %s%s(k *%s, p *rev.Pass[%[3]s]) error {\n", k.function("Run"), k.apart.params, typ)
		out.WriteString("sign, g, t, gt := p.Sign(), &p.G, &p.T, &p.GT\n")
	case k.apart != nil:
		fmt.Fprintf(&out, "\n// %s makes a pass, with the sign of %s.\nfunc %[1]s%[3]s(k *%s, sign int, g, t, gt *%[4]s) {\n", k.function("run"), k.function("Run"), k.apart.params, typ)
	case k.run == nil:
		fmt.Fprintf(&out, "\n// %s\nfunc (k %s) Run(p rev.Pass[%[2]s]) error {\n", runComment, typ)
		out.WriteString("sign, g, t, gt := p.Sign(), &p.G, &p.T, &p.GT\n")
	default:
		fmt.Fprintf(&out, "\n// run makes a pass, with the sign of Run.\nfunc (k *%s) run(sign int, g, t, gt *%[1]s) {\n", typ)
	}
	open := ""
	for line := range strings.Lines(products) {
		needs, call, _ := strings.Cut(strings.TrimSpace(line), ": ")
		first, others, _ := strings.Cut(needs, " ")
		if first != open {
			if open != "" {
				out.WriteString("}\n")
			}
			fmt.Fprintf(&out, "if %s {\n", test.Replace(first))
			open = first
		}
		call = field.Replace(call)
		if k.apart != nil {
			method, args, _ := strings.Cut(call, "(")
			call = k.function(method) + "(k, " + args
		} else {
			call = "k." + call
		}
		if others == "" {
			fmt.Fprintln(&out, call)
		} else {
			fmt.Fprintf(&out, "if %s {\n%s\n}\n", test.Replace(strings.ReplaceAll(others, " ", " && ")), call)
		}
	}
	out.WriteString("}\n")
	if k.run == nil {
		out.WriteString("return nil\n")
	}
	out.WriteString("}\n")
	return out.String(), nil
}
