"""The interfaces of an emulated switch, one file each, all over one `Host`."""
