use lightloom_control::cyclic::RoundRobin;
use lightloom_fabrics::sirius::book::Deal;
use lightloom_fabrics::sirius::cell::Cell;
use lightloom_fabrics::sirius::departures::*;
use lightloom_fabrics::sirius::lines::Queued;
use lightloom_fabrics::sirius::mail::Flight;
use lightloom_fabrics::sirius::meetings::*;
use lightloom_fabrics::sirius::topology::Schedule;
use std::time::Instant;
fn main() {
    let n = 128usize;
    let rr = RoundRobin { nodes: n as u32, uplinks: 12 };
    let deal = Deal::new(n, 1);
    let schedule = Schedule::Rotor(rr);
    let tt = timetable(&schedule).unwrap();
    for pattern in 0..2 {
        for per in [520usize, 1500] {
        let mut d = Departures::new(&tt, (0, n), &deal);
        let mut flight = Flight::new(0, 1);
        let mut x = 1u64;
        let slots = 20000;
        let (mut t_join, mut t_leave, mut joins) = (0.0, 0.0, 0u64);
        let mut relaying = vec![0u32; n];
        for slot in 0..slots {
            d.begin(slot as i64, tt.number(slot as i64));
            // cells
            let mut cells = Vec::with_capacity(per);
            for k in 0..per {
                x ^= x << 13; x ^= x >> 7; x ^= x << 17;
                let (by, to) = if pattern == 0 { ((x >> 20) as usize % n, (x >> 40) as usize % n) } else {
                    let s = k % n; let t = (slot * 12 + k / n) % n; let by = (s + 1 + t) % n; (by, (s + 1 + s % 2 * 6) % n) };
                if pattern == 1 && (x >> 50) % 100 > 89 { continue; }
                cells.push(Queued::new(Cell::new(k as u32, slot as u32), by, to as u16));
            }
            let t = Instant::now();
            { let Timetable::Rotor(r) = &tt else { panic!() }; d.relay::<false>(r.at(slot as i64), &cells); for q in &cells { relaying[q.row()] += 1; } }
            t_join += t.elapsed().as_secs_f64(); joins += cells.len() as u64;
            let t = Instant::now();
            d.leave(&mut flight); flight.land(); flight.clear_chunks(&mut d.spare);
            t_leave += t.elapsed().as_secs_f64();
        }
        println!("pattern {pattern} per {per}: join {:.2} ns, leave {:.1} ns/slot", t_join / joins as f64 * 1e9, t_leave / slots as f64 * 1e9);
        }
    }
}
