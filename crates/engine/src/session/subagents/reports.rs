//! Reports of subagents to the session that has started them.

use super::{OpenRequest, SubagentReport};
use crate::event::WorkingState;
use crate::session::outbox::Outbox;
use crate::session::running::Turns;
use crate::session::state::Session;
use crate::{Choice, Cost, Event, SessionId, Usage, UserRequest};

/// The session, its turn and the way out for events: what reports of subagents change.
pub(in crate::session) struct SubagentReports<'a> {
    pub(in crate::session) session: &'a mut Session,
    pub(in crate::session) turns: &'a mut Turns,
    pub(in crate::session) out: &'a mut Outbox,
    /// Whether the agent takes no more commands, so that no client can answer.
    pub(in crate::session) is_ending: bool,
}

impl SubagentReports<'_> {
    /// Handles a report.
    pub(in crate::session) fn receive(&mut self, id: &SessionId, report: SubagentReport) {
        match report {
            SubagentReport::Request(request) => self.requested(id, request),
            SubagentReport::Resolved { request, tool_use_ids, choice } => {
                self.resolved(&request, tool_use_ids, choice);
            }
            SubagentReport::Used(usage, cost) => self.used(id, usage, cost),
            SubagentReport::Step(step) => {
                let worker = self.session.subagents().find(id.as_str());
                let call = worker.filter(|worker| worker.turn.is_some()).map(|worker| worker.call.clone());
                let is_running = self.turns.running().is_some_and(|running| !running.turn.is_over());
                if let Some(call) = call.filter(|_| is_running) {
                    self.emit(Event::SubagentProgress { id: call, session: id.clone(), step });
                }
            }
            SubagentReport::Hook(event) => self.emit(*event),
            SubagentReport::Ended => self.ended(id),
        }
    }

    fn emit(&mut self, event: Event) {
        self.out.push(Some(self.session.id().clone()), event);
    }

    /// Asks the user in the name of the session, because clients know no other.
    fn requested(&mut self, id: &SessionId, request: UserRequest) {
        let open = OpenRequest { worker: id.clone(), request: request.clone() };
        self.session.subagents_mut().requests.push(open);
        if self.is_ending {
            return self.session.subagents().deny_requests();
        }
        if self.turns.is_running() {
            self.emit(Event::State(WorkingState::Waiting));
        }
        self.emit(Event::SubagentRequest { session: id.clone(), request });
    }

    /// A request is resolved. A decision that covers later calls applies to this session, too, because the user decided it here.
    fn resolved(&mut self, request: &str, tool_use_ids: Vec<String>, choice: Choice) {
        let Some(open) = self.session.subagents_mut().take_request(request) else { return };
        self.leave_waiting_state();
        self.emit(Event::PermissionResolved { request: request.to_owned(), tool_use_ids, choice });
        if let (UserRequest::Permission { calls, .. }, true) = (open, choice != Choice::Cancel) {
            for call in calls {
                if let Some(event) = self.session.apply_decision(&call.request, choice) {
                    self.emit(event);
                }
            }
        }
    }

    fn leave_waiting_state(&mut self) {
        let turn = self.turns.running().map(|running| &running.turn);
        let is_running = turn.is_some_and(|turn| !turn.is_over() && turn.open_request().is_none());
        let is_waiting = self.session.subagents().requests().next().is_some();
        if is_running && !is_waiting && self.out.state() == WorkingState::Waiting {
            self.emit(Event::State(WorkingState::Executing));
        }
    }

    fn used(&mut self, id: &SessionId, usage: Usage, cost: Cost) {
        let event = self.session.record_subagent(id, usage, cost);
        let turn = self.session.subagents().find(id.as_str()).and_then(|worker| worker.turn);
        if let Some(running) = turn.and_then(|turn| self.turns.numbered(turn)) {
            running.turn.add_subagent_usage(usage);
        }
        self.emit(event);
    }

    /// A subagent and all its tasks have ended.
    fn ended(&mut self, id: &SessionId) {
        let open = self.session.subagents_mut().take_requests_of(id);
        self.session.save();
        self.leave_waiting_state();
        for request in open {
            let request = request.id().to_owned();
            let (tool_use_ids, choice) = (Vec::new(), Choice::Cancel);
            self.emit(Event::PermissionResolved { request, tool_use_ids, choice });
        }
    }
}
