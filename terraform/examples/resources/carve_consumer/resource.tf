resource "carve_consumer" "machine" {
  uid  = "vm-7c1f"
  kind = "VM"
  name = "web-1"
}
