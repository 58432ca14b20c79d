data "carve_pools" "roots" {
  ip_family = "IPv4"
  roots     = true
}

output "blocks" {
  value = { for pool in data.carve_pools.roots.pools : pool.name => pool.cidr }
}
