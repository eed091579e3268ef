package rules

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// The comments of kernels write equations in Unicode, as x̄ += Wᵀ·ȳ. latex returns them
// in LaTeX.
func latex(s string) string {
	t := tex{rest: s}
	for t.rest != "" {
		t.next()
	}
	return strings.TrimSpace(t.out.String())
}

// A tex is a text that is being translated to LaTeX.
type tex struct {
	rest string
	out  strings.Builder
}

var symbols = map[string]string{
	"<->": `\leftrightarrow `, "<-": `\leftarrow `, "+=": `\mathrel{+}= `, "-=": `\mathrel{-}= `, "*=": `\mathrel{*}= `,
	"⊕=": `\mathrel{\oplus}= `, ",  ": `,\quad `, "    ": `\quad `, "...": `\dots `, "·": `\cdot `, "⊕": `\oplus `, "⊗": `\otimes `,
	"Σ": `\sum\nolimits`, "Π": `\prod\nolimits`, "‖": `\|`, "½": `\tfrac12 `, "±": `\pm `, "∓": `\mp `, "∂": `\partial `,
	"∞": `\infty `, "≠": `\ne `, "≤": `\le `, "<": `\lt `, "≥": `\ge `, "∈": `\in `, "∅": `\emptyset `, "∖": `\setminus `, "⟨": `\langle `,
	"⟩": `\rangle `, "×": `\times `, "ʹ": `'`, "ʺ": `''`, "∘": `\circ `, "∇": `\nabla `, "≈": `\approx `,
	"{": `\{`, "}": `\}`, "&": `\&`, "%": `\%`, "#": `\#`, "|": `|`, "->": `\to `, "⌊": `\lfloor `, "⌋": `\rfloor `,
	"α": `\alpha `, "β": `\beta `, "γ": `\gamma `, "δ": `\delta `, "ε": `\varepsilon `, "η": `\eta `, "θ": `\theta `,
	"κ": `\kappa `, "λ": `\lambda `, "μ": `\mu `, "ν": `\nu `, "ξ": `\xi `, "π": `\pi `, "ρ": `\rho `, "σ": `\sigma `,
	"τ": `\tau `, "φ": `\varphi `, "ψ": `\psi `, "ω": `\omega `, "ζ": `\zeta `, "Λ": `\Lambda `, "Γ": `\Gamma `, "Δ": `\Delta `, "Ω": `\Omega `,
	"Φ": `\Phi `, "Ψ": `\Psi `, "Θ": `\Theta `,
}

const (
	raised      = "⁰0¹1²2³3⁴4⁵5⁶6⁷7⁸8⁹9⁻-⁺+ᵀTᴴHˣxⁿn"
	lowered     = "₀0₁1₂2₃3₄4₅5₆6₇7₈8₉9ₓ×"
	withMacron  = "ᾱαāaēeīiōoūuȳyḡgĀAĒEĪIŌOŪUȲYḠG"
	withDot     = "ȧaḃbċcḋdėeḟfġgḣhṁmṅnȯoṗpṙrṡsṫtẇwẋxẏyżzȦAḂBĊCḊDĖEḞFĠGḢHṀMṄNȮOṖPṘRṠSṪTẆWẊXẎYŻZ"
	macron, dot = '\u0304', '\u0307'
)

// functions are the words that are names of functions. Other long words are text.
var functions = strings.Fields("log exp sin cos tan tanh max min det sign conj diag tr chol lower upper tri Re Im op Var mean dist relu softmax logsumexp atan2 abs erf sigmoid rank clip sym triu argmin")

// pair returns the character that follows c in a list of pairs.
func pair(list string, c rune) (rune, bool) {
	if i := strings.IndexRune(list, c); i >= 0 && utf8.RuneCountInString(list[:i])%2 == 0 {
		r, _ := utf8.DecodeRuneInString(list[i+utf8.RuneLen(c):])
		return r, true
	}
	return 0, false
}

func (t *tex) peek() (rune, int) { return utf8.DecodeRuneInString(t.rest) }

// letter takes a letter with its mark.
func (t *tex) letter() (base string, mark rune, ok bool) {
	c, n := t.peek()
	if r, ok := pair(withMacron, c); ok {
		t.rest = t.rest[n:]
		return string(r), macron, true
	}
	if r, ok := pair(withDot, c); ok {
		t.rest = t.rest[n:]
		return string(r), dot, true
	}
	_, sup := pair(raised, c)
	_, sub := pair(lowered, c)
	if !unicode.IsLetter(c) || sup || sub || c == 'Σ' || c == 'Π' || c == 'ʹ' || c == 'ʺ' {
		return "", 0, false
	}
	t.rest = t.rest[n:]
	base = string(c)
	for _, m := range []rune{macron, dot} {
		if after, ok := strings.CutPrefix(t.rest, string(m)); ok {
			t.rest = after
			return base, m, true
		}
	}
	return base, 0, true
}

// marked returns s with a mark above.
func marked(s string, mark rune) string {
	switch mark {
	case macron:
		return `\bar{` + s + `}`
	case dot:
		return `\dot{` + s + `}`
	}
	return s
}

// next translates what comes next.
func (t *tex) next() {
	if group, ok := t.run(raised); ok {
		t.out.WriteString("^{" + strings.ReplaceAll(group, "T", `\top`) + "}")
		return
	}
	if group, ok := t.run(lowered); ok {
		t.out.WriteString("_{" + strings.ReplaceAll(group, "×", `\times`) + "}")
		return
	}
	if base, mark, ok := t.letter(); ok {
		t.word(base, mark)
		return
	}
	for n := 4; n > 0; n-- { // the longest symbol
		for s, is := range symbols {
			if utf8.RuneCountInString(s) == n && strings.HasPrefix(t.rest, s) {
				t.rest = t.rest[len(s):]
				t.out.WriteString(is)
				return
			}
		}
	}
	c, n := t.peek()
	t.rest = t.rest[n:]
	switch c {
	case '_', '^':
		t.out.WriteString(string(c) + "{" + t.group() + "}")
	case '√':
		t.out.WriteString(`\sqrt{` + t.group() + "}")
	case '\n':
		t.out.WriteString(" \\\\\n& ")
	default:
		t.out.WriteRune(c)
	}
}

// run takes the characters that are in a list of pairs.
func (t *tex) run(list string) (group string, ok bool) {
	for {
		c, n := t.peek()
		r, in := pair(list, c)
		if !in {
			return group, group != ""
		}
		group += string(r)
		t.rest = t.rest[n:]
	}
}

// group takes what is in parentheses, or a run of letters and digits.
func (t *tex) group() string {
	c, n := t.peek()
	if end, ok := map[rune]string{'(': ")", '{': "}"}[c]; ok {
		depth := 0
		for i, r := range t.rest {
			if r == c {
				depth++
			} else if string(r) == end {
				depth--
			}
			if depth == 0 {
				inner := t.rest[n:i]
				t.rest = t.rest[i+1:]
				return latex(inner)
			}
		}
	}
	if c == '∞' {
		t.rest = t.rest[n:]
		return `\infty`
	}
	var b strings.Builder
	for {
		c, n := t.peek()
		if unicode.IsDigit(c) || c == '-' && b.Len() == 0 {
			b.WriteRune(c)
			t.rest = t.rest[n:]
			continue
		}
		base, mark, ok := t.letter()
		if !ok {
			break
		}
		b.WriteString(marked(strings.TrimSpace(latexLetter(base)), mark))
		if mark == 0 && base != latexLetter(base) {
			b.WriteByte(' ')
		}
	}
	if after, ok := strings.CutPrefix(t.rest, "_"); ok && b.Len() > 0 { // x^y_i
		t.rest = after
		b.WriteString("_{" + t.group() + "}")
	}
	return strings.TrimSpace(b.String())
}

func latexLetter(s string) string {
	if l, ok := symbols[s]; ok {
		return l
	}
	return s
}

// word translates a word that begins with a letter: a variable, a function or text.
func (t *tex) word(base string, mark rune) {
	if base != latexLetter(base) { // Greek
		t.out.WriteString(marked(strings.TrimSpace(latexLetter(base)), mark) + " ")
		return
	}
	word, plain := base, t.rest
	for {
		before := t.rest
		b, m, ok := t.letter()
		if !ok || m != 0 || b != latexLetter(b) {
			t.rest = before
			break
		}
		word += b
	}
	switch {
	case base == "g" && mark == dot && len(word) > 1: // ġx, the tangent of x̄
		name := latexWord(word[1:])
		if after, ok := strings.CutPrefix(t.rest, "_"); ok {
			t.rest = after
			name += "," + t.group()
		}
		t.out.WriteString(`\dot{g}_{` + name + `}`)
	case base == "g" && mark == dot && t.greek():
	case mark != 0 && len(word) > 1 && unicode.IsUpper(rune(word[0])):
		over := map[rune]string{macron: `\overline`, dot: `\dot`}[mark]
		t.out.WriteString(over + `{\mathrm{` + word + `}}`)
	case mark != 0:
		t.rest = plain
		t.out.WriteString(marked(base, mark))
	default:
		t.out.WriteString(latexWord(word))
	}
}

// greek takes the Greek letter in ġα.
func (t *tex) greek() bool {
	before := t.rest
	b, m, ok := t.letter()
	if !ok || m != 0 || b == latexLetter(b) {
		t.rest = before
		return false
	}
	t.out.WriteString(`\dot{g}_{` + strings.TrimSpace(latexLetter(b)) + `}`)
	return true
}

func latexWord(w string) string {
	for _, f := range functions {
		if w == f {
			return `\operatorname{` + w + `}`
		}
	}
	switch {
	case len(w) <= 2 && w != "at" && w != "is" && w != "if" && w != "of" && w != "by":
		return w
	case unicode.IsUpper(rune(w[0])):
		return `\mathrm{` + w + `}`
	}
	return `\text{ ` + w + ` }`
}

func TestLatex(t *testing.T) {
	for in, want := range map[string]string{
		"y += W·x + b":             `y \mathrel{+}=  W\cdot x + b`,
		"W̄ += ȳ·xᵀ,  x̄ += Wᵀ·ȳ":  `\bar{W} \mathrel{+}=  \bar{y}\cdot x^{\top},\quad \bar{x} \mathrel{+}=  W^{\top}\cdot \bar{y}`,
		"x̄ += conj(Ōut)·y":        `\bar{x} \mathrel{+}=  \operatorname{conj}(\overline{\mathrm{Out}})\cdot y`,
		"ġx_ij += ġOut":            `\dot{g}_{x,ij} \mathrel{+}=  \dot{g}_{\mathrm{Out}}`,
		"ᾱ_k += sym(A)":            `\bar{\alpha} _{k} \mathrel{+}=  \operatorname{sym}(A)`,
		"ġα += A⁻ᵀ":                `\dot{g}_{\alpha} \mathrel{+}=  A^{-\top}`,
		"l·x^y·ż_i":                `l\cdot x^{y}\cdot \dot{z}_{i}`,
		"e^(x_i-m)/√(Σ a_ij²)":     `e^{x_{i}-m}/\sqrt{\sum\nolimits a_{ij}^{2}}`,
		"z_i += x_i^y_i":           `z_{i} \mathrel{+}=  x_{i}^{y_{i}}`,
		"Σ_{k≠i} σ_k":              `\sum\nolimits_{k\ne i} \sigma _{k}`,
		"λ̄_i at the entries of A": `\bar{\lambda} _{i} \text{ at } \text{ the } \text{ entries } \text{ of } A`,
	} {
		if got := latex(in); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}
