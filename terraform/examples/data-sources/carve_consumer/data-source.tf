data "carve_consumer" "machine" {
  uid = "vm-1"
}
