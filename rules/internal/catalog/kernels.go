package catalog

import (
	"slices"
	_ "unsafe" // for go:linkname

	"revnum/internal/byname"
	_ "revnum/revlinalg"
	_ "revnum/revlog"
	_ "revnum/revmath"
	_ "revnum/revmodels/ba"
	_ "revnum/revmodels/gmm"
	_ "revnum/revmodels/graphembed"
	_ "revnum/revmodels/hand"
	_ "revnum/revmodels/kmeans"
	_ "revnum/revmodels/lstm"
	_ "revnum/revmodels/nbody"
	_ "revnum/revmodels/wave"
	_ "revnum/revnn"
	_ "revnum/revsparse"
	_ "revnum/revtropical"
)

// kernels are the types of kernels by the names of the kernels.
//
// A package that names a type such as revlinalg.Dot[float64] compiles its methods, and here are hundreds. So each
// package of kernels has a table of its types, in zpasses.go, which no program has that does not import this
// package. The tables are not exported, because nobody else needs them.
var kernels = func() map[string][]byname.Instance {
	m := make(map[string][]byname.Instance)
	for _, i := range slices.Concat(
		ofRevlinalg(),
		ofRevlog(),
		ofRevmath(),
		ofBa(),
		ofGmm(),
		ofGraphembed(),
		ofHand(),
		ofKmeans(),
		ofLstm(),
		ofNbody(),
		ofWave(),
		ofRevnn(),
		ofRevsparse(),
		ofRevtropical(),
	) {
		m[nameOf(i.Kernel)] = append(m[nameOf(i.Kernel)], i)
	}
	return m
}()

//go:linkname ofRevlinalg revnum/revlinalg.instances
func ofRevlinalg() []byname.Instance

//go:linkname ofRevlog revnum/revlog.instances
func ofRevlog() []byname.Instance

//go:linkname ofRevmath revnum/revmath.instances
func ofRevmath() []byname.Instance

//go:linkname ofBa revnum/revmodels/ba.instances
func ofBa() []byname.Instance

//go:linkname ofGmm revnum/revmodels/gmm.instances
func ofGmm() []byname.Instance

//go:linkname ofGraphembed revnum/revmodels/graphembed.instances
func ofGraphembed() []byname.Instance

//go:linkname ofHand revnum/revmodels/hand.instances
func ofHand() []byname.Instance

//go:linkname ofKmeans revnum/revmodels/kmeans.instances
func ofKmeans() []byname.Instance

//go:linkname ofLstm revnum/revmodels/lstm.instances
func ofLstm() []byname.Instance

//go:linkname ofNbody revnum/revmodels/nbody.instances
func ofNbody() []byname.Instance

//go:linkname ofWave revnum/revmodels/wave.instances
func ofWave() []byname.Instance

//go:linkname ofRevnn revnum/revnn.instances
func ofRevnn() []byname.Instance

//go:linkname ofRevsparse revnum/revsparse.instances
func ofRevsparse() []byname.Instance

//go:linkname ofRevtropical revnum/revtropical.instances
func ofRevtropical() []byname.Instance
