package coef

// Coefficients of Atan2 and Pow, over both types.
var (
	// (atan q - q)/q³ in q² for 0 <= q <= 1, with errors of 2⁻⁵⁷ and 2⁻²⁸ of atan q.
	Atan64 = [20]float64{
		-0x1.555555555551dp-2, 0x1.9999999994b2ap-3, -0x1.249249235b8ddp-3, 0x1.c71c7177f1d86p-4,
		-0x1.745d112838a0ep-4, 0x1.3b1360a94707cp-4, -0x1.110e21d2aa6f8p-4, 0x1.e1b97f3da4f64p-5,
		-0x1.ae55096997cb9p-5, 0x1.82bb6365a8f4fp-5, -0x1.5952abd1e9baep-5, 0x1.2b8aa9f506f9dp-5,
		-0x1.e7f86ec5a974bp-6, 0x1.65cb862205b45p-6, -0x1.c2ff51fdfd8bfp-7, 0x1.d14dfd9d868ccp-8,
		-0x1.73a83b985041fp-9, 0x1.aac07ebff65a5p-11, -0x1.37417a0ff8066p-13, 0x1.af3c2a9a9c826p-17,
	}
	Atan32 = [9]float64{
		-0x1.55553ap-2, 0x1.9991p-3, -0x1.24177ap-3, 0x1.c0317ep-4, -0x1.5709bap-4,
		0x1.d6de14p-5, -0x1.f722e6p-6, 0x1.5d871ap-7, -0x1.c7dc84p-10,
	}

	// Sums of these are π.
	Pi64 = [2]float64{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}
	Pi32 = [2]float64{0x1.921fb6p+1, -0x1.777a5cp-24}

	// (log((2+s)/(2-s)) - s)/s³ in s² for |s| <= 0.4, with errors of 2⁻⁶⁶ and 2⁻³⁶ of the logarithm.
	LogRatio64 = [11]float64{
		0x1.5555555555555p-4, 0x1.9999999999cc4p-7, 0x1.249249243f06ap-9, 0x1.c71c724ea2765p-12,
		0x1.745cd7e8c4cc4p-14, 0x1.3b260317976edp-16, 0x1.0dae75792b447p-18, 0x1.577d651aaa587p-20,
		-0x1.ab5282c6e82d2p-20, 0x1.41950752fa65fp-18, -0x1.6b0bb9c65e1ffp-18,
	}
	LogRatio32 = [5]float64{0x1.555556p-4, 0x1.999852p-7, 0x1.24f482p-9, 0x1.af92p-12, 0x1.3d8c88p-13}
)
