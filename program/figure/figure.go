package figure

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"revnum/internal/outfile"
)

// Palette has colours that people with any colour vision can tell apart (Okabe
// and Ito, "Color Universal Design", 2008).
var Palette = []color.NRGBA{
	{0, 114, 178, 255},   // blue
	{213, 94, 0, 255},    // vermilion
	{0, 158, 115, 255},   // green
	{204, 121, 167, 255}, // purple
	{230, 159, 0, 255},   // orange
	{86, 180, 233, 255},  // sky blue
	{0, 0, 0, 255},       // black
}

// Color returns colour i of the palette. The palette repeats after the last colour.
func Color(i int) color.NRGBA { return Palette[i%len(Palette)] }

// Colors returns n different colours. If the palette has fewer, the hues are the golden
// angle apart, in four shades.
func Colors(n int) []color.NRGBA {
	if n <= len(Palette) {
		return Palette[:n]
	}
	colors := make([]color.NRGBA, n)
	for i := range colors {
		shade := [4][2]float64{{1, 0.8}, {0.5, 0.95}, {0.9, 0.45}, {0.6, 0.65}}[i%4] // saturation, value
		_, hue := math.Modf(float64(i) * (math.Sqrt(5) - 1) / 2)
		colors[i] = color.NRGBAModel.Convert(palette.HSVA{H: hue, S: shade[0], V: shade[1], A: 1}).(color.NRGBA)
	}
	return colors
}

// Glyphs returns the filled and the hollow glyph of series i. They change when the
// colours repeat.
func Glyphs(i int) (filled, hollow draw.GlyphDrawer) {
	switch i / len(Palette) % 3 {
	case 0:
		return draw.CircleGlyph{}, draw.RingGlyph{}
	case 1:
		return draw.BoxGlyph{}, draw.SquareGlyph{}
	default:
		return draw.PyramidGlyph{}, draw.TriangleGlyph{}
	}
}

// New returns an empty figure with a light grid.
func New(title, x, y string) *plot.Plot {
	p := Bare(title)
	p.X.Label.Text, p.Y.Label.Text = x, y
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	return p
}

// Bare returns an empty figure.
func Bare(title string) *plot.Plot {
	p := plot.New()
	sans := func(s *draw.TextStyle, size vg.Length) {
		s.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	}
	sans(&p.Title.TextStyle, 12)
	sans(&p.X.Label.TextStyle, 10)
	sans(&p.Y.Label.TextStyle, 10)
	sans(&p.X.Tick.Label, 9)
	sans(&p.Y.Tick.Label, 9)
	sans(&p.Legend.TextStyle, 9)
	p.Title.Text = title
	p.Title.Padding = 8
	p.X.Padding, p.Y.Padding = 4, 4
	p.Legend.ThumbnailWidth = 24
	p.Legend.Padding = 2
	p.BackgroundColor = color.White
	return p
}

// Formats are the file extensions that Save accepts.
var Formats = []string{".png", ".svg", ".pdf"}

// Check returns an error unless the extension of path is one of Formats.
func Check(path string) error {
	ext := strings.ToLower(filepath.Ext(path))
	for _, f := range Formats {
		if ext == f {
			return nil
		}
	}
	return fmt.Errorf("%s: expected the extension %s for a figure", path, strings.Join(Formats, ", "))
}

// Save writes the figure to path, in the format of its extension. The legend is to the
// right of the figure.
func Save(p *plot.Plot, width, height vg.Length, path string) error {
	return save(width, height, path, func(area draw.Canvas) {
		legend := p.Legend
		p.Legend = plot.NewLegend()
		defer func() { p.Legend = legend }()
		right := legend
		right.Top, right.Left = true, true
		size := right.Rectangle(area).Size()
		size.X *= 1.2 // letters are wider where an SVG is shown without Liberation Sans
		right.Draw(draw.Crop(area, area.Size().X-size.X, 0, 0, -2*p.Title.TextStyle.Font.Size-p.Title.Padding))
		p.Draw(draw.Crop(area, 0, -size.X-margin, 0, 0))
	})
}

// SaveGrid writes rows of figures to path, in the format of its extension. Each row has
// its own height. The areas of a column are aligned at the left. Legends are inside the
// figures.
func SaveGrid(plots [][]*plot.Plot, width vg.Length, heights []vg.Length, path string) error {
	total := vg.Length(2*len(heights)) * margin
	for _, h := range heights {
		total += h
	}
	return save(width, total, path, func(area draw.Canvas) {
		var begin []vg.Length // of the areas, by columns
		for _, draws := range []bool{false, true} {
			top := area.Max.Y
			for i, row := range plots {
				across := (area.Size().X + 2*margin) / vg.Length(len(row))
				for j, p := range row {
					left := area.Min.X + vg.Length(j)*across
					cell := draw.Canvas{Canvas: area.Canvas, Rectangle: vg.Rectangle{
						Min: vg.Point{X: left, Y: top - heights[i]}, Max: vg.Point{X: left + across - 2*margin, Y: top}}}
					at := p.DataCanvas(cell).Min.X
					if draws {
						p.Draw(draw.Crop(cell, begin[j]-at, 0, 0, 0))
						continue
					}
					if j == len(begin) {
						begin = append(begin, at)
					}
					begin[j] = max(begin[j], at)
				}
				top -= heights[i] + 2*margin
			}
		}
	})
}

// margin is the empty space around figures.
const margin = 8

// save writes what the function draws to path.
func save(width, height vg.Length, path string, draws func(area draw.Canvas)) error {
	if err := Check(path); err != nil {
		return err
	}
	var c interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format := strings.ToLower(filepath.Ext(path))[1:]; format {
	case "png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	default:
		f, err := draw.NewFormattedCanvas(width, height, format)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		c = f.(interface {
			vg.CanvasSizer
			io.WriterTo
		})
	}
	all := draw.New(c)
	all.SetColor(color.White) // an SVG has no background of its own
	all.Fill(all.Path())
	draws(draw.Crop(all, margin, -margin, margin, -margin))
	return outfile.Write(path, func(f io.Writer) error {
		_, err := c.WriteTo(f)
		return err
	})
}
