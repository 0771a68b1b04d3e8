package order

import "math/bits"

// floorSum is the sum of (a*t+b)/m, rounded down, over t from 0 to n-1, modulo
// 2^64. m is not 0, and n, a, b and m are below 2^62. It takes about log(m)
// divisions: Euclid's algorithm on the slope of the line under which points are
// counted.
func floorSum(n, m, a, b uint64) uint64 {
	sum := uint64(0)
	for n > 0 {
		sum += pairs(n)*(a/m) + n*(b/m)
		a, b = a%m, b%m
		hi, lo := bits.Mul64(a, n)
		lo, carry := bits.Add64(lo, b, 0)
		y, rest := bits.Div64(hi+carry, lo, m) // a < m: the quotient is n at most
		n, m, a, b = y, a, m, rest
	}
	return sum
}

// pairs is n*(n-1)/2 modulo 2^64.
func pairs(n uint64) uint64 {
	if n%2 == 0 {
		return n / 2 * (n - 1)
	}
	return (n - 1) / 2 * n
}

// below counts the t from 0 to n-1 for which (g*t+s) modulo m is below c; g and
// s are below m, c is m at most.
func below(n, m, g, s, c uint64) uint64 {
	return floorSum(n, m, g, s) + n - floorSum(n, m, g, s+m-c)
}
