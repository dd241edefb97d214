// api.js - requests to salt-api, the session's token in a header, and the stream of events. The page asks for what it
// shows and for nothing else: no job is begun, no key touched.

const base = new URL('..', import.meta.url).pathname; // root_prefix and a slash
const KEPT = 'halite-session';

export const session = {
    get() {
        try {
            return JSON.parse(sessionStorage.getItem(KEPT));
        } catch {
            return null;
        }
    },
    set(value) {
        if (value)
            sessionStorage.setItem(KEPT, JSON.stringify(value));
        else
            sessionStorage.removeItem(KEPT);
    },
};

// A request that failed. `kind`: "session" (log in again), "denied" (no rule for it), "other".
export class Failure extends Error {
    constructor(text, kind = 'other') {
        super(text);
        this.kind = kind;
    }
}

async function request(method, path, body) {
    const headers = { Accept: 'application/json' };
    const own = session.get();
    if (own)
        headers['X-Auth-Token'] = own.token;
    if (body !== undefined)
        headers['Content-Type'] = 'application/json';
    let answer;
    try {
        answer = await fetch(base + path, {
            method, headers, credentials: 'omit', redirect: 'error', body: body === undefined ? undefined : JSON.stringify(body),
        });
    } catch {
        throw new Failure('salt-api does not answer.');
    }
    let value = null;
    try {
        value = await answer.json();
    } catch {
        value = null;
    }
    if (answer.ok)
        return value;
    const text = value && typeof value.return === 'string' ? value.return : `salt-api answered ${answer.status}.`;
    if (answer.status === 401)
        throw new Failure(text, own && !/^No permission/.test(text) ? 'denied' : 'session');
    throw new Failure(text, answer.status === 403 ? 'denied' : 'other');
}

export async function login(eauth, username, password) {
    const value = await request('POST', 'login', { eauth, username, password, ...(eauth === 'sharedsecret' ? { sharedsecret: password } : {}) });
    const { token, user, expire, perms } = value.return[0];
    session.set({ token, user, expire, perms });
}

export async function logout() {
    try {
        await request('POST', 'logout', {});
    } finally {
        session.set(null);
    }
}

// A runner's return. A text in place of what was asked for is the master's reason.
export async function runner(fun, kwarg = {}) {
    let value;
    try {
        value = await request('POST', '', [{ client: 'runner', fun, kwarg }]);
    } catch (failure) {
        if (failure.kind === 'denied')
            throw new Failure(`You may not see this: none of your rules allows the runner ${fun}.`, 'denied');
        if (/^Client disabled/.test(failure.message))
            throw new Failure('This needs runner in the option netapi_enable_clients of the master.', 'denied');
        throw failure;
    }
    const [one] = value.return;
    if (typeof one === 'string')
        throw new Failure(one.split('\n').filter(Boolean).pop() || 'The master gave no answer.');
    return one;
}
// The same of a function that returns text.
export async function runnerText(fun, kwarg) {
    const value = await request('POST', '', [{ client: 'runner', fun, kwarg }]);
    return String(value.return[0]);
}

export const jobsAllowed = () => request('GET', 'jobs').then((value) => value.return[0]);

// ---- events ---------------------------------------------------------------------------------------

// All views share a stream. Listeners get {tag, data}; status listeners a word: "on", "off" or why not.
const listeners = new Set(), watchers = new Set();
let status = 'off', ending = null;

export function onEvent(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
}
export function onStatus(fn) {
    watchers.add(fn);
    fn(status);
    return () => watchers.delete(fn);
}
function say(word) {
    status = word;
    for (const fn of watchers)
        fn(word);
}

function take(block) {
    const data = [];
    let tag = '';
    for (const line of block.split('\n')) {
        if (line.startsWith('data: '))
            data.push(line.slice(6));
        else if (line.startsWith('tag: '))
            tag = line.slice(5);
    }
    if (data.length === 0)
        return;
    let event;
    try {
        event = JSON.parse(data.join('\n'));
    } catch {
        return;
    }
    // A listener that stumbles over an event takes it from no other, and does not end the stream.
    for (const fn of listeners) {
        try {
            fn({ tag: String(event.tag ?? tag), data: event.data });
        } catch (failure) {
            console.error(failure);
        }
    }
}

async function read(signal) {
    const own = session.get();
    const answer = await fetch(base + 'events', {
        headers: { 'X-Auth-Token': own.token, Accept: 'text/event-stream' }, credentials: 'omit', signal,
    });
    if (!answer.ok)
        throw new Failure(`salt-api answered ${answer.status}.`, answer.status === 401 ? 'session' : 'other');
    say('on');
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = '';;) {
        const { done, value } = await reader.read();
        if (done)
            return;
        rest += value;
        const blocks = rest.split('\n\n');
        rest = blocks.pop();
        blocks.forEach(take);
    }
}

// Reads until listen() is called again or stop(): a stream that breaks is opened again.
export async function listen() {
    stop();
    const own = (ending = new AbortController());
    for (let wait = 1; session.get() && !own.signal.aborted; wait = Math.min(wait * 2, 30)) {
        try {
            await read(own.signal);
            wait = 0.5;
        } catch (failure) {
            if (own.signal.aborted)
                return;
            if (failure.kind === 'session') {
                say('refused');
                return;
            }
        }
        say('off');
        await new Promise((done) => setTimeout(done, wait * 1000));
    }
}
export function stop() {
    ending?.abort();
    ending = null;
    say('off');
}
