//! A search over plans, one parameter after the other.

use super::plan::Plan;

/// The attack that needs no search: the raw model.
const RAW: Plan = Plan { gap: 1.0, scale: 1.0, share: 1.0, flipped: 0.0, shift: 0.0 };

/// Gaps tried first. Near 0, plans differ more in what the server notices.
const GAPS: [f64; 10] = [-2.0, -1.5, -1.0, -0.7, -0.45, -0.25, 0.25, 0.45, 0.7, 1.5];

/// The best plan found. `value` is called 28 times.
pub(super) fn search(value: impl Fn(&Plan) -> f64) -> Plan {
    let (mut best, mut highest) = (RAW, value(&RAW));
    let mut consider = |plans: &dyn Fn(Plan) -> Vec<Plan>| {
        for plan in plans(best) {
            let found = value(&plan);
            // The order decides between equals, and an undefined value never wins.
            if found > highest {
                (best, highest) = (plan, found);
            }
        }
    };
    let gaps = |steps: [f64; 2]| {
        move |plan: Plan| steps.map(|step| Plan { gap: plan.gap + step, ..plan }).to_vec()
    };
    consider(&|plan| GAPS.map(|gap| Plan { gap, ..plan }).to_vec());
    consider(&gaps([-0.12, 0.12]));
    consider(&gaps([-0.06, 0.06]));
    consider(&|plan| [0.3, 3.0].map(|scale| Plan { scale, ..plan }).to_vec());
    consider(&|plan| [-0.5, 0.5, 1.5].map(|shift| Plan { shift, ..plan }).to_vec());
    consider(&|plan| [0.5, 0.75].map(|share| Plan { share, ..plan }).to_vec());
    consider(&|plan| [0.15, 0.4].map(|flipped| Plan { flipped, ..plan }).to_vec());
    consider(&gaps([-0.25, 0.25]));
    consider(&gaps([-0.1, 0.1]));
    best
}
