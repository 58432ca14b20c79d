data "carve_pool" "prod" {
  name = "prod"
}

output "free" {
  value = data.carve_pool.prod.capacity.available
}
