package source

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reader reads the whole file or refuses it. The error has the file and a remedy. If the line and the column are known, it has them too.
func TestIncompleteFilesAreRefusedWithTheirPosition(t *testing.T) {
	t.Parallel()
	const head = "cidr,name,description\n"
	for name, c := range map[string]struct{ of, text, says string }{
		"QuoteInsideQuotes":   {"csv", head + "10.0.1.0/24,rack-a,\"19\" rack, row 4\n10.0.2.0/24,rack-b,\"racks\n", "f:2:"},
		"QuotesThatPairUp":    {"csv", "address,name,description\n10.0.0.1,a,\"19-inch\n10.0.0.2,b,x\n10.0.0.3,c,\"21-inch\n10.0.0.4,d,y\n", "f:2: a quoted cell starts in this row"},
		"QuotesAroundRows":    {"csv", "address,name,description\n10.0.0.1,a,\"19-inch\n10.0.0.2,b,x\n10.0.0.3,c,21\"\n", "f:2:12: the quoted cell that starts here contains a line that looks like a row"},
		"QuotesBeforeAddress": {"csv", "name,description,address\na,\"19in,10.0.0.1\nb,x\",10.0.0.2\n", "f:2:3: the quoted cell that starts here contains a line that looks like a row"},
		"QuotesBeforeSubnet":  {"phpipam", "Section;Description;Subnet\nA;\"19in;10.0.0.0/24\nB;x\";10.0.1.0/24\n", "f:2:3: the quoted cell"},
		"QuotesBeforePrefix":  {"netbox", "Description,Prefix,VRF\n\"19in,10.0.0.0/24,\nx\",10.0.1.0/24,\n", "f:2:1: the quoted cell"},
		"QuotesInLastCells":   {"csv", "address,name,description\n10.0.0.1,a,\"19in\n10.0.0.2,b\",x\n", "f:2"},
		"QuotesOfInfoblox":    {"infoblox", "header-network,comment,address*,netmask*\nnetwork,\"19in,10.0.0.0,255.0.0.0\nnetwork,x\",11.0.0.0,255.0.0.0\n", "f:2:9: the quoted cell"},
		"OpenQuote":           {"csv", head + "10.0.0.0/16,a,b\n10.0.1.0/24,c,\"d\n", "f:3"},
		"BareQuote":           {"csv", head + "10.0.0.0/16,a,19\" rack\n", "f:2:17: a quotation mark is within an unquoted cell"},
		"QuotePHPIPAM":        {"phpipam", "Section;Subnet;Description\nA;10.0.0.0/16;\"19\n", "f:2"},
		"QuoteInfoblox":       {"infoblox", "header-network,address*,netmask*,comment\nnetwork,10.0.0.0,255.0.0.0,\"19\n", "f:2"},
		"QuoteNetBox":         {"netbox", "Prefix,VRF\n10.0.0.0/8,\"a\n", "f:2"},
		"QuoteTabs":           {"csv", "cidr\tname\n10.0.0.0/8\t\"a\n", "f:2"},
		"ShortRow":            {"csv", head + "10.0.0.0/16,a\n", "f:2:13: the row has 2 cells, but there are 3 titles"},
		"TwoRowsInOne":        {"csv", head + "10.0.0.0/16,a,b10.0.1.0/24,c,d\n", "f:2:"},
		"NoTitles":            {"csv", "10.0.0.0/16,site\n", "f:1:1: \"10.0.0.0/16\" contains an address"},
		"RowAmongTitles":      {"csv", "cidr,name10.0.0.0/16,site\n10.0.1.0/24,b,c\n", "f:1:6:"},
		"RowsOfInfobloxInOne": {"infoblox", "header-network,address*,netmask*,network_view,a,b,c,d\nnetwork,10.0.0.0,255.0.0.0,defaultnetwork,11.0.0.0,255.0.0.0\n",
			"f:2:28: two rows seem to be in one line"},
		"Latin1":          {"csv", head + "10.0.0.0/16,B\xfcro,x\n", "f:2:14: the text is not UTF-8: save the file as UTF-8, or give its encoding, such as --encoding latin1"},
		"Latin1JSON":      {"netbox", "[{\"model\":\"ipam.prefix\",\"pk\":1,\"fields\":\n{\"prefix\":\"10.0.0.0/8\",\"description\":\"B\xfcro\"}}]", "f:2:"},
		"UTF16WithoutBOM": {"csv", "c\x00i\x00d\x00r\x00\n\x00", "f:1:2: there is a zero byte"},
		"Workbook":        {"csv", "PK\x03\x04\x14\x00", "an Excel workbook (.xlsx)"},
		"OldWorkbook":     {"phpipam", "\xd0\xcf\x11\xe0\xa1\xb1", "an Excel workbook (.xls)"},
		"RandomBytes":     {"netbox", "\x80\x81\x82", "f:1:1"},
		"GermanTitles":    {"netbox", "IP-Adresse,VRF,Status\n10.1.0.5/24,Global,Aktiv\n", "f:1: no column has a known title for addresses. The titles are \"IP-Adresse\", \"VRF\", \"Status\"; known titles are Prefix"},
		"GermanPrefixes":  {"netbox", "Präfix,VRF\n10.1.0.0/24,Global\n", "in the language of the user's preferences"},
		"TitlesOfPHPIPAM": {"phpipam", "Bereich;Subnetz\nA;10.0.0.0/8\n", "no column has a known title for addresses"},
		"PageOfNetBox": {"netbox", `{"count":1160,"next":"https://nb/api/ipam/prefixes/?limit=2&offset=2","previous":null,"results":[{"id":1,"prefix":"10.0.0.0/8"}]}`,
			"it has 1 of 1160 rows, and there is a next page"},
		"FewerRowsThanTheCount": {"netbox", `{"count":2,"next":null,"previous":null,"results":[{"id":1,"prefix":"10.0.0.0/8"}]}`, "NetBox counts 2 rows, but the pages contain 1"},
		"LastPageAlone": {"netbox", `{"count":2,"next":null,"previous":"https://nb/api/ipam/prefixes/?limit=1","results":[{"id":1,"prefix":"10.0.0.0/8"}]}`,
			"there is a previous page"},
		"CutJSON":           {"netbox", "{\"results\":[\n{\"id\":1,", "f:2:9: the file ends within a JSON document"},
		"WrongJSON":         {"netbox", "[\n{\"id\":1}\n{}]", "f:2:9: it cannot be read"},
		"OneNumberTwice":    {"netbox", `[{"id":1,"prefix":"10.0.0.0/8","url":"/ipam/prefixes/"},{"id":1,"prefix":"11.0.0.0/8","url":"/ipam/prefixes/"}]`, "is 10.0.0.0/8 in one row and 11.0.0.0/8 in another"},
		"Devices":           {"netbox", `{"results":[{"id":1,"url":"x/api/dcim/devices/1/","name":"sw1"}]}`, `url "x/api/dcim/devices/1/"`},
		"MorePagesOfAWS":    {"aws", `{"Vpcs":[{"VpcId":"v","CidrBlock":"10.0.0.0/16"}],"NextToken":"x"}`, "AWS has more pages"},
		"NothingOfAWS":      {"aws", `{}`, "an empty JSON document"},
		"InstancesOfAWS":    {"aws", `{"Reservations":[]}`, "a JSON document with the members Reservations"},
		"TwoOfAWS":          {"aws", "{\"Vpcs\":[]}\n{\"Vpcs\":[]}", "f:2:1: a second document starts here"},
		"MoreOfKubernetes":  {"whereabouts", `{"metadata":{"continue":"abc","remainingItemCount":900},"items":[]}`, "Kubernetes has 900 more items"},
		"PodsOfKubernetes":  {"whereabouts", `{"kind":"PodList","apiVersion":"v1","items":[{"kind":"Pod","metadata":{"name":"a"}}]}`, "of kind PodList"},
		"TwoPlans":          {"plan", "pools: []\n---\npools: []\n", "more than one document"},
		"UnknownListOfPlan": {"plan", "pool: []\n", "unknown field"},
		"TitlesAlone":       {"phpipam", "Section;Subnet\n", "no row contains an address"},
		"EmptyList":         {"netbox", `{"count":0,"next":null,"previous":null,"results":[]}`, "a list without rows"},
		"EscapesInAType":    {"infoblox", "\x1b[31mred,a\n", "no earlier line header-\\x1b[31mred"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Read(c.of, []File{{Name: "f", Text: strings.NewReader(c.text)}})
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "\x1b")
		})
	}
}

// If two columns have different values for the same field, the row is refused, because the reader could use only one of them.
func TestDifferentValuesForOneFieldAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ of, text string }{
		"CSVAddresses":     {"csv", "address,ip\n10.0.0.1,%s\n"},
		"CSVBlocks":        {"csv", "prefix,network\n10.0.0.0/24,%s\n"},
		"CSVStarts":        {"csv", "start,from,end\n10.0.0.1,%s,10.0.0.9\n"},
		"CSVMasks":         {"csv", "network,mask,length\n10.0.0.0,255.255.255.0,%s\n"},
		"SameTitle":        {"csv", "IP Address,ip_address\n10.0.0.1,%s\n"},
		"NetBoxPrefixes":   {"netbox", "Prefix,Aggregate\n10.0.0.0/24,%s\n"},
		"NetBoxAddresses":  {"netbox", "Address,IP Address\n10.0.0.1,%s\n"},
		"PHPIPAMAddresses": {"phpipam", "IP Address;ip_addr\n10.0.0.1;%s\n"},
		"InfobloxNetworks": {"infoblox", "header-network,address*,network,netmask*\nnetwork,10.0.0.0,%s,255.255.255.0\n"},
		"AWS":              {"aws", "cidr,block\n10.0.0.0/24,%s\n"},
	} {
		_, row, _ := strings.Cut(c.text, "\n")
		same := strings.FieldsFunc(row, func(r rune) bool { return strings.ContainsRune(",;", r) })
		value := same[0]
		switch name {
		case "CSVMasks":
			value = "24"
		case "InfobloxNetworks":
			value = same[1]
		}
		for _, v := range []string{value, "", "10.9.9.9/8"} {
			read, err := Read(c.of, []File{{Name: "f", Text: strings.NewReader(strings.Replace(c.text, "%s", v, 1))}})
			require.NoError(t, err, name)
			require.Len(t, rowsOf(read), 1)
			if problem := rowsOf(read)[0].Problem; v == "10.9.9.9/8" {
				require.Contains(t, problem, "have different values for the same field", name)
			} else {
				require.Empty(t, problem, name)
			}
		}
	}
}

// An ordinary description with several lines is not refused, even if it contains an address.
func TestDescriptionsWithSeveralLinesAreRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"first, floor\nsecond, floor", "gateway 10.0.0.1, rack 4\nx", "10.0.0.1\n10.0.0.2", "10.0.0.1, 10.0.0.2\nold", "a\nb, 10.0.0.2 is old, c", "row 3,\r\nrow 4, see 10.0.0.0/24"} {
		read, err := Read("csv", []File{{Name: "f", Text: strings.NewReader("name,description,address\na,\"" + text + "\",10.0.0.9\n")}})
		require.NoError(t, err, text)
		require.Len(t, rowsOf(read), 1)
	}
}

func TestDeclaredEncodingsAndTableFormatsAreRead(t *testing.T) {
	t.Parallel()
	latin1, err := EncodingOf("latin1")
	require.NoError(t, err)
	windows, err := EncodingOf("windows-1252")
	require.NoError(t, err)
	_, err = EncodingOf("klingon")
	require.ErrorContains(t, err, `"klingon" is not a known encoding`)
	wide := func(text string, big bool) []byte {
		out := []byte{0xff, 0xfe}
		if big {
			out = []byte{0xfe, 0xff}
		}
		for _, r := range text {
			if big {
				out = append(out, byte(r>>8), byte(r))
			} else {
				out = append(out, byte(r), byte(r>>8))
			}
		}
		return out
	}
	const table = "cidr,name\n10.0.0.0/16,Büro\n"
	for name, f := range map[string]File{
		"Latin1":      {Text: strings.NewReader("cidr,name\n10.0.0.0/16,B\xfcro\n"), Encoding: latin1},
		"Windows1252": {Text: strings.NewReader("cidr,name\n10.0.0.0/16,B\xfcro\n"), Encoding: windows},
		"UTF8Mark":    {Text: strings.NewReader("\xef\xbb\xbf" + table)},
		"UTF16LE":     {Text: bytes.NewReader(wide(table, false))},
		"UTF16BE":     {Text: bytes.NewReader(wide(table, true))},
		"CR":          {Text: strings.NewReader(strings.ReplaceAll(table, "\n", "\r"))},
		"CRLF":        {Text: strings.NewReader(strings.ReplaceAll(table, "\n", "\r\n"))},
		"SepLine":     {Text: strings.NewReader("sep=;\ncidr;name\n10.0.0.0/16;Büro\n")},
		"Bars":        {Text: strings.NewReader("cidr|name\n10.0.0.0/16|Büro\n")},
		"NoLastLine":  {Text: strings.NewReader(strings.TrimSuffix(table, "\n"))},
		"EmptyAtEnd":  {Text: strings.NewReader("cidr,name\n10.0.0.0/16,Büro,,\n")},
		"UTF16AsSaid": {Text: bytes.NewReader(wide(table, false)[2:]), Encoding: must(EncodingOf("utf-16le"))},
	} {
		f.Name = "f"
		read, err := Read("csv", []File{f})
		require.NoError(t, err, name)
		require.Len(t, rowsOf(read), 1, name)
		require.Equal(t, "Büro 10.0.0.0/16", rowsOf(read)[0].Name+" "+rowsOf(read)[0].Where(), name)
	}
	_, err = Read("csv", []File{{Name: "f", Text: bytes.NewReader(wide(table, false)[:31])}})
	require.ErrorContains(t, err, "not valid in the declared encoding", "half a character is left")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestNetBoxPagesAreMerged(t *testing.T) {
	t.Parallel()
	first := `{"count":3,"next":"https://nb/api/ipam/prefixes/?limit=2&offset=2","previous":null,"results":[{"id":1,"prefix":"10.0.0.0/16"},{"id":2,"prefix":"10.1.0.0/16"}]}`
	second := `{"count":3,"next":null,"previous":"https://nb/api/ipam/prefixes/?limit=2","results":[{"id":3,"prefix":"10.2.0.0/16"}]}`
	for name, files := range map[string][]File{
		"InOneFile":  {{Name: "both", Text: strings.NewReader(first + "\n" + second)}},
		"InTwoFiles": {{Name: "a", Text: strings.NewReader(first)}, {Name: "b", Text: strings.NewReader(second)}},
		"OneTwice":   {{Name: "a", Text: strings.NewReader(first)}, {Name: "b", Text: strings.NewReader(second)}, {Name: "c", Text: strings.NewReader(first)}},
	} {
		read, err := Read("netbox", files)
		require.NoError(t, err, name)
		require.Len(t, rowsOf(read), 3, name)
	}
}

func TestInvalidAddressMasksAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"10.0.0.6/33", "10.0.0.7/abc", "10.0.0.8/24/16", "10.0.0.9/", "2001:db8::1/129", "10.0.0.1/-1", "fe80::1%eth0"} {
		read, err := Read("csv", []File{{Name: "f", Text: strings.NewReader("address\n" + text + "\n")}})
		require.NoError(t, err)
		require.NotEmpty(t, rowsOf(read)[0].Problem, text)
		read, err = Read("netbox", []File{{Name: "f", Text: strings.NewReader(`[{"id":1,"start_address":"` + text + `","end_address":"10.0.0.20/24"}]`)}})
		require.NoError(t, err)
		require.NotEmpty(t, rowsOf(read)[0].Problem, text)
	}
	r := Record{}
	r.host("010.1.2.3")
	require.Contains(t, r.Problem, "octal")
	r.network("10.0.0.0/255.0.0.0")
	require.Contains(t, r.Problem, "write the mask as a length")
}
