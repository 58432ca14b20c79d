package webhook

import "net/netip"

// platforms are addresses that clouds serve only inside their networks, although IANA's registries list them as public. The list need not contain
// link-local, private and shared networks, such as 169.254.169.254, 100.100.100.200 and fd00:ec2::254. The guard refuses those in any case.
var platforms = []netip.Prefix{
	// Azure: agent, DNS, health probes and parts of the metadata.
	// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	netip.MustParsePrefix("168.63.129.16/32"),
	// Google Cloud: private.googleapis.com and restricted.googleapis.com, routed within a VPC.
	// https://cloud.google.com/vpc/docs/configure-private-google-access
	netip.MustParsePrefix("199.36.153.4/30"),
	netip.MustParsePrefix("199.36.153.8/30"),
	netip.MustParsePrefix("2600:2d00:2:1000::/64"),
	netip.MustParsePrefix("2600:2d00:2:2000::/64"),
	// IBM Cloud: DNS, time and mirrors of the infrastructure, and endpoints of services, routed within its network.
	// https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
	netip.MustParsePrefix("161.26.0.0/16"),
	netip.MustParsePrefix("166.8.0.0/14"),
}

// ofPlatform reports whether an address is in platforms.
func ofPlatform(address netip.Addr) bool {
	for _, network := range platforms {
		if network.Contains(address) {
			return true
		}
	}
	return false
}
