data "carve_classes" "ipv4" {
  ip_family = "IPv4"
}
