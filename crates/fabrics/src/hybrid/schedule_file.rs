//! The file of a plan, which contains the schedule that a switch follows.

use lightloom_control::hardware::Hardware;
use lightloom_control::schedule::plan::{self, Planned};
use lightloom_control::schedule::Schedule;
use lightloom_engine::Refusal;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read};

/// Largest size of a file [B]. A round of 4,096 racks is smaller.
pub const LONGEST: u64 = 256 << 20;

/// The contents of a file when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleFile {
    /// The schedule, for the switch for which the file was read.
    pub schedule: Schedule,
    /// SHA-256 of the file's bytes, in hexadecimal.
    pub sha256: String,
}

/// The schedule that `lightloom plan -o` wrote to `path`, for a switch with this number of racks.
///
/// # Errors
/// Those of [`read_plan`] and of [`Planned::for_switch`].
pub fn read_schedule(path: &str, hardware: &Hardware, key: &str) -> Result<ScheduleFile, Refusal> {
    let read = |text: String| {
        let schedule = plan::read(&text)?.for_switch(hardware)?;
        let digest = Sha256::digest(&text);
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(ScheduleFile { schedule, sha256 })
    };
    let found = text_of(path).and_then(read);
    found.map_err(|refusal| of_file(path, key, refusal))
}

/// The plan that `lightloom plan -o` wrote to `path`, for any switch.
///
/// # Errors
/// For `key`, with the path: if the file does not exist, cannot be read or is longer than
/// [`LONGEST`]; and those of [`plan::read`].
pub fn read_plan(path: &str, key: &str) -> Result<Planned, Refusal> {
    let planned = text_of(path).and_then(|text| plan::read(&text));
    planned.map_err(|refusal| of_file(path, key, refusal))
}

/// The refusal of a file's contents, by the key that names the file.
fn of_file(path: &str, key: &str, refusal: Refusal) -> Refusal {
    let place = match refusal.key.as_str() {
        "" => String::new(),
        within => format!("{within} = {}: ", refusal.value),
    };
    let limit = format!("{place}{}", refusal.limit);
    Refusal::new(key, format!("\"{path}\""), limit, refusal.remedy)
}

/// A file as text, refused as a whole.
fn text_of(path: &str) -> Result<String, Refusal> {
    let refuse = |limit: String, remedy: &str| Refusal::new("", "", limit, remedy);
    let unreadable = |problem: io::Error| {
        let remedy = "check the path (relative to the experiment's file, or to where the command \
                      runs)";
        refuse(format!("cannot be read ({problem})"), remedy)
    };
    // Devices and pipes are not opened: reading them may block or never end.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(refuse(
            "a folder or a device, no file".to_owned(),
            plan::REMEDY,
        ));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unreadable)?;
    let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
    if read.map_err(unreadable)? as u64 > LONGEST {
        let limit = format!("is longer than {} MiB", LONGEST >> 20);
        return Err(refuse(limit, "plan fewer slots"));
    }
    String::from_utf8(bytes).map_err(|_| refuse("is not UTF-8 text".to_owned(), plan::REMEDY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Rate, Time};
    use std::path::PathBuf;

    const THREE: Hardware = Hardware {
        racks: 3,
        planes: 1,
        ports: 1,
        rate: Rate::GBPS,
    };

    /// A file of this test's own, removed when it ends.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str, text: &[u8]) -> Scratch {
            let name = format!("lightloom-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::write(&path, text).expect("a directory for temporary files");
            Scratch(path)
        }

        fn path(&self) -> &str {
            self.0.to_str().expect("a name in ASCII")
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn refused(path: &str) -> String {
        let refusal = read_schedule(path, &THREE, "fabric.schedule").unwrap_err();
        assert_eq!(refusal.key, "fabric.schedule");
        assert_eq!(refusal.value, format!("\"{path}\""));
        refusal.limit
    }

    #[test]
    fn what_is_in_a_file_is_followed() {
        let text = br#"{"format": "lightloom-plan/1", "schedule": {"ports": 3, "night_ps": 4,
            "slots": [{"day_ps": 5, "permutation": [1, 2, 0]}]}}"#;
        let file = Scratch::new("good.json", text);
        let read = read_schedule(file.path(), &THREE, "fabric.schedule").unwrap();
        let found = read.schedule;
        assert_eq!((found.night, found.period()), (Time(4), Time(9)));
        assert_eq!(found.slots[0].permutation, [1, 2, 0]);
        let four = Hardware { racks: 4, ..THREE };
        let refusal = read_schedule(file.path(), &four, "fabric.schedule").unwrap_err();
        assert!(
            refusal
                .limit
                .starts_with("schedule.ports = 3: a schedule for another cluster"),
            "{refusal}"
        );
    }

    #[test]
    fn what_is_no_text_in_a_file_is_refused_without_waiting_for_it() {
        assert!(refused("/no/such/plan.json").starts_with("cannot be read (No such file"));
        assert_eq!(refused("/"), "a folder or a device, no file");
        assert_eq!(refused("/dev/zero"), "a folder or a device, no file");
        assert!(refused(Scratch::new("word", b"oops").path()).starts_with("not JSON (expected"));
        assert_eq!(
            refused(Scratch::new("latin", b"\xff").path()),
            "is not UTF-8 text"
        );
        let long = Scratch::new("long", b"");
        let file = fs::File::options()
            .write(true)
            .open(&long.0)
            .expect("just written");
        // The file has only a length: blocks of zeros use no space.
        file.set_len(LONGEST + 1).expect("a sparse file");
        assert_eq!(refused(long.path()), "is longer than 256 MiB");
    }
}
