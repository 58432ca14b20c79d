package webhook

import "net/netip"

// platforms are addresses that clouds serve only inside their networks, although IANA's registries list them as public. The list need not contain
// link-local, private and shared networks, such as 169.254.169.254, 100.100.100.200 and fd00:ec2::254. The guard refuses these networks in any case.
var platforms = Networks{
	// Azure: agent, DNS, health probes and DHCP of the platform. "The public IP address 168.63.129.16 is used in all regions and all national clouds."
	// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	netip.MustParsePrefix("168.63.129.16/32"),
	// Google Cloud: restricted.googleapis.com and private.googleapis.com. Google does not announce these ranges to the Internet.
	// https://docs.cloud.google.com/vpc/docs/configure-private-google-access (ranges)
	// https://docs.cloud.google.com/vpc-service-controls/docs/private-connectivity (not announced)
	netip.MustParsePrefix("199.36.153.4/30"),
	netip.MustParsePrefix("199.36.153.8/30"),
	netip.MustParsePrefix("2600:2d00:2:1000::/56"),
	netip.MustParsePrefix("2600:2d00:2:2000::/56"),
	// IBM Cloud: endpoints of the infrastructure and of services, routed within its network. The VPC API reserves both ranges as "IBM services" and
	// "Cloud Service Endpoints" (createVpnServer, clientIpPool).
	// https://cloud.ibm.com/apidocs/vpc
	netip.MustParsePrefix("161.26.0.0/16"),
	netip.MustParsePrefix("166.8.0.0/14"),
}
