data "carve_allocations" "retained" {
  holder = "self"
  phase  = "Retained"
}

output "retained" {
  value = { for allocation in data.carve_allocations.retained.allocations : allocation.cidr => allocation.uid }
}
