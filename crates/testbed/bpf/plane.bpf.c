// The kernel plane: rack switches, the electrical network and the optical switches of the
// testbed, as one program on the ingress of every interface of the fabric's namespace.
//
// A host's MAC address says where it is: 02:4c, the rack (two bytes), the host (two bytes).
// What an interface is says `ports`, by its index. Two tables of each kind take turns: the
// idle one is written, then `chosen` is, so that a packet sees one table or the other.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// The kernel's interface, as far as it is used here (include/uapi/linux/bpf.h).
struct __sk_buff {
	u32 len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto;
	u32 priority, ingress_ifindex, ifindex, tc_index, cb[5], hash, tc_classid, data, data_end;
};

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define INLINE static inline __attribute__((always_inline))
#define MAP_ARRAY 2
#define DROP 2

static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static long (*vlan_push)(struct __sk_buff *skb, u16 proto, u16 tci) = (void *)18;
static long (*vlan_pop)(struct __sk_buff *skb) = (void *)19;
static long (*redirect)(u32 ifindex, u64 flags) = (void *)23;

// Limits of the tables; crates/testbed/src/kernel_plane.rs has the same.
#define RACKS 16
#define PLANES 8
#define INTERFACES 4096
#define HOSTS 1024
#define TAGS 256

// VLANs: the electrical network; the first optical switch; the first path that servers tag
// packets for, if they do (HydRA §III.B.1).
#define ELECTRICAL_TAG 100
#define FIRST_PLANE_TAG 200
#define FIRST_TAG 1000

enum role { NONE, HOST, TOR_ELECTRICAL, TOR_OPTICAL, CORE, OCS };

// What an interface is, of which rack, and of which optical switch.
struct port {
	u32 role, rack, plane;
};

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, INTERFACES);
	__type(key, u32);
	__type(value, struct port);
} ports SEC(".maps");

// The interface of each host at its rack switch: rack × HOSTS / RACKS + host.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, HOSTS);
	__type(key, u32);
	__type(value, u32);
} hosts SEC(".maps");

// The rack switch's uplinks: rack × (1 + PLANES) + (0: electrical, 1 + plane: optical).
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, RACKS * (1 + PLANES));
	__type(key, u32);
	__type(value, u32);
} uplinks SEC(".maps");

// The other ends of the same, at the electrical core and at the optical switches.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, RACKS * (1 + PLANES));
	__type(key, u32);
	__type(value, u32);
} inner SEC(".maps");

// Which of the two tables is in force: 0 of `next`, 1 of `crossed`.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u32);
} chosen SEC(".maps");

// Where rack `at` sends what goes from `src` to `dst`: 0 electrical, 1 + plane, or NOWHERE.
#define NOWHERE 255
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 2 * RACKS * RACKS * RACKS);
	__type(key, u32);
	__type(value, u32);
} next SEC(".maps");

// Where rack `at` sends packets that a server tagged with a VLAN, at (at × TAGS + VLAN −
// FIRST_TAG) × RACKS + destination: 1 + plane, or 0 if the VLAN does not lead there. It needs no
// second table: servers use a VLAN only after its rows were written.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, RACKS * TAGS * RACKS);
	__type(key, u32);
	__type(value, u32);
} tagged SEC(".maps");

// The output of each input of the optical switches: plane × RACKS + rack; NOWHERE if dark.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 2 * PLANES * RACKS);
	__type(key, u32);
	__type(value, u32);
} crossed SEC(".maps");

// Packets: 0 sent into the dark, 1 from a wrong address, 2 that nothing leads to.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 3);
	__type(key, u32);
	__type(value, u64);
} lost SEC(".maps");

INLINE int lose(u32 why)
{
	u64 *count = map_lookup(&lost, &why);
	if (count)
		__sync_fetch_and_add(count, 1);
	return DROP;
}

INLINE u32 *of(void *map, u32 key)
{
	return map_lookup(map, &key);
}

struct place {
	u32 rack, host;
};

INLINE int place_of(const u8 *mac, struct place *place)
{
	place->rack = (u32)mac[2] << 8 | mac[3];
	place->host = (u32)mac[4] << 8 | mac[5];
	return mac[0] == 0x02 && mac[1] == 0x4c && place->rack < RACKS;
}

INLINE int to_host(struct place *to)
{
	u32 *interface = of(&hosts, to->rack * (HOSTS / RACKS) + to->host);
	if (to->host >= HOSTS / RACKS || !interface || !*interface)
		return lose(2);
	return redirect(*interface, 0);
}

// A rack switch sends to the next hop, tagged with the network's VLAN: 100 is the electrical
// one, 200 + plane an optical one (c-Through §4.2: one VLAN for each network).
INLINE int send_on(struct __sk_buff *skb, u32 at, u32 src, u32 dst)
{
	u32 *table = of(&chosen, 0);
	if (!table || at >= RACKS || src >= RACKS || dst >= RACKS)
		return lose(1);
	u32 *hop = of(&next, (((*table & 1) * RACKS + at) * RACKS + src) * RACKS + dst);
	if (!hop || *hop > PLANES)
		return lose(2);
	u32 *interface = of(&uplinks, at * (1 + PLANES) + *hop);
	if (!interface || !*interface)
		return lose(2);
	vlan_push(skb, 0x0081, *hop ? FIRST_PLANE_TAG - 1 + *hop : ELECTRICAL_TAG);
	return redirect(*interface, 0);
}

// The VLAN of a packet; 0 without one.
INLINE u32 tag_of(struct __sk_buff *skb)
{
	return skb->vlan_present ? skb->vlan_tci & 0xfff : 0;
}

// A rack switch sends a packet that a server tagged, its tag untouched.
INLINE int send_tagged(u32 tag, u32 at, u32 dst)
{
	u32 hop = 0;
	if (at >= RACKS || dst >= RACKS)
		return lose(1);
	if (tag != ELECTRICAL_TAG) {
		if (tag < FIRST_TAG || tag >= FIRST_TAG + TAGS)
			return lose(2);
		u32 *row = of(&tagged, (at * TAGS + tag - FIRST_TAG) * RACKS + dst);
		if (!row || !*row || *row > PLANES)
			return lose(2);
		hop = *row;
	}
	u32 *interface = of(&uplinks, at * (1 + PLANES) + hop);
	if (!interface || !*interface)
		return lose(2);
	return redirect(*interface, 0);
}

INLINE int cross(u32 plane, u32 rack)
{
	u32 *table = of(&chosen, 1);
	if (!table || plane >= PLANES || rack >= RACKS)
		return lose(1);
	u32 *output = of(&crossed, ((*table & 1) * PLANES + plane) * RACKS + rack);
	if (!output || *output >= RACKS)
		return lose(0);
	u32 *interface = of(&inner, *output * (1 + PLANES) + 1 + plane);
	if (!interface || !*interface)
		return lose(2);
	return redirect(*interface, 0);
}

SEC("classifier")
int plane(struct __sk_buff *skb)
{
	u8 *data = (u8 *)(long)skb->data;
	struct place from, to;
	if (data + 14 > (u8 *)(long)skb->data_end || !place_of(data, &to) || !place_of(data + 6, &from))
		return lose(1);
	u32 interface = skb->ifindex;
	struct port *port = map_lookup(&ports, &interface);
	if (!port)
		return lose(1);
	switch (port->role) {
	case HOST: {
		u32 tag = tag_of(skb);
		if (tag && to.rack != port->rack)
			return send_tagged(tag, port->rack, to.rack);
		vlan_pop(skb);
		if (to.rack == port->rack)
			return to_host(&to);
		return send_on(skb, port->rack, from.rack, to.rack);
	}
	case TOR_ELECTRICAL:
	case TOR_OPTICAL: {
		u32 tag = tag_of(skb);
		if (tag >= FIRST_TAG && to.rack != port->rack)
			return send_tagged(tag, port->rack, to.rack);
		vlan_pop(skb);
		if (to.rack == port->rack)
			return to_host(&to);
		return send_on(skb, port->rack, from.rack, to.rack);
	}
	case CORE: {
		u32 *down = of(&inner, to.rack * (1 + PLANES));
		if (!down || !*down)
			return lose(2);
		return redirect(*down, 0);
	}
	case OCS:
		return cross(port->plane, port->rack);
	}
	return lose(1);
}

// At a host's output: packets that its rack switch sends over a circuit get class 1:2 of the host's
// HTB scheduler, all others 1:3 (c-Through §4.2). The class stands in skb->priority.
#define NEXT (-1)
#define OPTICAL_CLASS 0x10002
#define OTHER_CLASS 0x10003

SEC("classifier")
int host_output(struct __sk_buff *skb)
{
	u8 *data = (u8 *)(long)skb->data;
	struct place from, to;
	u32 *table = of(&chosen, 0);
	skb->priority = OTHER_CLASS;
	if (!table || data + 14 > (u8 *)(long)skb->data_end)
		return NEXT;
	if (!place_of(data, &to) || !place_of(data + 6, &from))
		return NEXT;
	u32 *hop = of(&next, (((*table & 1) * RACKS + from.rack) * RACKS + from.rack) * RACKS + to.rack);
	if (hop && *hop && *hop <= PLANES)
		skb->priority = OPTICAL_CLASS;
	return NEXT;
}

char _license[] SEC("license") = "MIT";
