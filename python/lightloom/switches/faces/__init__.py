"""The interfaces ("faces") of an emulated switch, one file each; all share one `Host`."""
