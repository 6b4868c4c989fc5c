//! A sweep: the rate at which the server is saturated, and latencies below and above it.

use crate::error::Error;
use crate::point::Point;
use crate::session::Session;

/// The rates of a sweep, as parts of saturation.
pub const STEPS: [f64; 12] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2];

/// Finds saturation with connections that ask again after each answer, and then offers parts of that rate.
/// `done` is told of each point. Saturation is the first point.
pub async fn sweep(
    session: &Session,
    steps: &[f64],
    mut done: impl FnMut(&Point),
) -> Result<Vec<Point>, Error> {
    let saturated = session.measure(None).await?;
    done(&saturated);
    let most = saturated.achieved_per_s;
    let mut points = vec![saturated];
    if most <= 0.0 {
        let failures = &points[0].failures;
        return Err(Error::Settings(format!("no request was answered: {failures}")));
    }
    for step in steps {
        let point = session.measure(Some(step * most)).await?;
        done(&point);
        points.push(point);
    }
    Ok(points)
}
