data "carve_consumer_attachment" "vm" {
  claim = "web"
  uid   = "vm-1"
}
