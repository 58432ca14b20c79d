data "carve_api_key" "reader" {
  name = "reader"
}
