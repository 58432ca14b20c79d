// Package pools is pools and classes, cool-down, and the sampler that watches how full pools are.
package pools
