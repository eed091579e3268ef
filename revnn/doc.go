// Package revnn provides the layers of networks as reversible kernels.
//
//	AffineBatch, Conv2D           affine maps of the rows of a matrix, and convolutions
//	MaxPool, MeanPool             maxima and means over windows of images
//	Gather                        rows of a table, also called an embedding
//	ReLU, LeakyReLU, Sigmoid,
//	Tanh, Softplus, GELU, SiLU    activations, element by element
//	Attention                     of queries, keys and values, in linear memory
//	LSTM, GRU                     recurrent layers over sequences, in PyTorch's layouts
//	RMSNorm, LayerNorm            rows scaled to one size
//	BatchNorm, GroupNorm          channels, or groups of them, scaled to one size
//	Softmax, SoftmaxRows          probabilities of the classes that logits stand for
//	LogSumExp, LogSumExpRows      the logs of their normalising sums
//	CrossEntropy                  the loss of a classifier
//	BinaryCrossEntropy            the loss of independent labels
//	SquaredError, Huber           losses of real numbers
//
// All of them add to an output. The contract is that of package revlinalg, which has the
// general kernels of vectors and matrices. A batch of inputs is a matrix with an input in
// each row. Images are rows too, in the layout NCHW: plane by plane, each by rows.
package revnn

//go:generate go run revnum/cmd/revgen -instances
