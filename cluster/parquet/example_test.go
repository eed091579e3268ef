package parquet_test

import (
	"fmt"

	"revnum/cluster/parquet"
	"revnum/cluster/shard"
	"revnum/program/dataset"
)

func Example() {
	formats := dataset.Shards()
	formats[".parquet"] = parquet.Open
	_, err := formats.OpenSet(0, shard.Columns{Names: []string{"x", "y"}}, "points.csv")
	fmt.Println(err)
	// Output:
	// points.csv: expected a name that ends in one of .bin, .f64, .npy, .parquet, .raw
}
