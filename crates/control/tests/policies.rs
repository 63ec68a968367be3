//! The scripts of `tests/policies` on the fake switch.

#[path = "../../../tests/policies/script.rs"]
mod script;

use lightloom_control::fake::Fake;

#[test]
fn the_fake_switch_runs_every_script() {
    let scripts = script::all();
    for script in &scripts {
        let fake = Fake::new(script.hardware);
        let takes = script.takes().into_iter();
        script.run(takes.fold(fake, |fake, (kind, times)| fake.taking(kind, times)));
    }
    assert!(
        scripts.len() >= 10,
        "only {} scripts were found",
        scripts.len()
    );
}
