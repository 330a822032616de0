(** Tapes of finite length: docs/SPEC.md sections 2.3 and 2.4, for the recipe on bytes of Tape.v.

    All tapes of a length are counted. Those that do not run out are distributed equally over the draws, and therefore
    over the orders. Fewer than one in 2^66 runs out, if the tape has the length of section 2.3. *)

Require Import Arith List Bool Lia ZArith Lanes Orders Sparse Exact Tape.
Import ListNotations.

(** All tapes of so many bytes. *)
Definition tapes (length : nat) : list (list nat) := lanes 256 length.

(** How many of them have the property p. *)
Definition tally (p : list nat -> bool) (length : nat) : nat := List.length (filter p (tapes length)).

Definition sum (l : list nat) : nat := fold_right Nat.add 0 l.

(** ** Counting tapes by their first lane *)

Lemma sum_app : forall a b, sum (a ++ b) = sum a + sum b.
Proof.
  induction a as [|x a IH]; intros b; simpl; [reflexivity|]. rewrite IH. lia.
Qed.

Lemma sum_ext : forall (X : Type) (f g : X -> nat) l, (forall x, In x l -> f x = g x) -> sum (map f l) = sum (map g l).
Proof.
  induction l as [|x l IH]; simpl; intros H; [reflexivity|]. rewrite H, IH; auto.
Qed.

Lemma filter_prod_sum : forall (X Y : Type) (p : X * Y -> bool) xs ys,
  length (filter p (list_prod xs ys)) = sum (map (fun x => length (filter (fun y => p (x, y)) ys)) xs).
Proof.
  induction xs as [|x xs IH]; intros ys; simpl; [reflexivity|].
  rewrite filter_app, app_length, IH, filter_map_len. reflexivity.
Qed.

Lemma sum_prod : forall (X Y : Type) (f : X * Y -> nat) xs ys,
  sum (map f (list_prod xs ys)) = sum (map (fun x => sum (map (fun y => f (x, y)) ys)) xs).
Proof.
  induction xs as [|x xs IH]; intros ys; simpl; [reflexivity|].
  rewrite map_app, sum_app, IH, map_map. reflexivity.
Qed.

(** A tape is its first w bytes and the rest. *)
Lemma tally_split : forall w r p,
  tally p (w + r) = sum (map (fun lane => tally (fun rest => p (lane ++ rest)) r) (tapes w)).
Proof.
  unfold tally, tapes. induction w as [|w IH]; intros r p.
  - simpl. rewrite Nat.add_0_r. reflexivity.
  - cbn [Nat.add lanes]. rewrite filter_map_len, filter_prod_sum, map_map, sum_prod.
    apply sum_ext. intros b _. cbn [fst snd app].
    apply (IH r (fun rest => p (b :: rest))).
Qed.

Lemma lanes_length : forall B r, length (lanes B r) = B ^ r.
Proof.
  induction r as [|r IH]; [reflexivity|]. cbn [lanes]. rewrite map_length, prod_length, seq_length, IH. reflexivity.
Qed.

Lemma lanes_in : forall B r l, In l (lanes B r) -> length l = r /\ Forall (fun b => b < B) l.
Proof.
  induction r as [|r IH]; intros l H.
  - destruct H as [<-|[]]. auto.
  - cbn [lanes] in H. apply in_map_iff in H. destruct H as ((b, l') & <- & H).
    apply in_prod_iff in H. destruct H as (Hb & Hl). apply in_seq in Hb. destruct (IH l' Hl). cbn. split; [lia|].
    constructor; auto. lia.
Qed.

Lemma tally_le : forall p r, tally p r <= 256 ^ r.
Proof.
  intros. unfold tally, tapes. rewrite <- (lanes_length 256 r).
  induction (lanes 256 r) as [|l ls IH]; simpl; [lia|]. destruct (p l); simpl; lia.
Qed.

Lemma tally_ext : forall p q r, (forall l, length l = r -> p l = q l) -> tally p r = tally q r.
Proof.
  intros p q r H. unfold tally, tapes.
  assert (K : forall ls, (forall l, In l ls -> p l = q l) -> length (filter p ls) = length (filter q ls)).
  { induction ls as [|l ls IH]; intros E; simpl; [reflexivity|]. rewrite E by (left; reflexivity).
    destruct (q l); simpl; rewrite IH; auto; intros; apply E; right; assumption. }
  apply K. intros l Hl. apply H. apply (lanes_in 256 r l Hl).
Qed.

Lemma tally_none : forall r, tally (fun _ => false) r = 0.
Proof.
  intros. unfold tally. induction (tapes r); simpl; auto.
Qed.

(** Each number below 256^w is the integer of one lane of w bytes. *)
Lemma integers : forall w, map integer (tapes w) = seq 0 (256 ^ w).
Proof.
  unfold tapes. induction w as [|w IH]; [reflexivity|].
  cbn [lanes]. rewrite map_map, Nat.pow_succ_r'.
  assert (K : forall n s, map (fun p => integer (fst p :: snd p)) (list_prod (seq s n) (lanes 256 w))
    = seq (s * 256 ^ w) (n * 256 ^ w)).
  { induction n as [|n IHn]; intros s; [reflexivity|].
    cbn [seq list_prod]. rewrite map_app, map_map, IHn. cbn [fst snd].
    replace (S n * 256 ^ w) with (256 ^ w + n * 256 ^ w) by (cbn [Nat.mul]; reflexivity). rewrite seq_app. f_equal.
    - rewrite (map_ext_in _ (fun l => s * 256 ^ w + integer l)).
      + rewrite <- (map_map integer (fun x => s * 256 ^ w + x)), IH. clear.
        generalize (256 ^ w) at 2 4 as m. generalize (s * 256 ^ w) as q. intros q m.
        assert (G : forall m i, map (fun x => q + x) (seq i m) = seq (q + i) m).
        { induction m0 as [|m0 IHm]; intros i; [reflexivity|]. cbn [seq map]. rewrite IHm. do 2 f_equal. lia. }
        rewrite G, Nat.add_0_r. reflexivity.
      + intros l Hl. destruct (lanes_in 256 w l Hl) as (L & _). unfold integer at 1. cbn [fold_left].
        rewrite integer_from, L. reflexivity.
    - f_equal. cbn [Nat.mul]. lia. }
  apply (K 256 0).
Qed.

(** The sum over all lanes of w bytes of a function of their integer. *)
Lemma sum_integers : forall w (f : nat -> nat),
  sum (map (fun lane => f (integer lane)) (tapes w)) = sum (map f (seq 0 (256 ^ w))).
Proof.
  intros. rewrite <- (map_map integer f), integers. reflexivity.
Qed.

Lemma sum_if : forall (p : nat -> bool) x y l,
  sum (map (fun i => if p i then x else y) l)
  = length (filter p l) * x + length (filter (fun i => negb (p i)) l) * y.
Proof.
  induction l as [|i l IH]; simpl; [reflexivity|]. rewrite IH. destruct (p i); simpl; lia.
Qed.

(** ** One draw from a tape *)

(** More fuel than bytes changes nothing. *)
Lemma read_fuel : forall w k f g tape, 1 <= w -> length tape <= f -> length tape <= g ->
  read f w k tape = read g w k tape.
Proof.
  intros w k. induction f as [|f IH]; intros [|g] tape Hw Hf Hg; try reflexivity.
  - destruct tape; simpl in Hf; [|lia]. destruct w; [lia|]. reflexivity.
  - destruct tape; simpl in Hg; [|lia]. destruct w; [lia|]. reflexivity.
  - cbn [read]. unfold take. destruct (Nat.eqb_spec (length (firstn w tape)) w) as [E|]; [|reflexivity].
    destruct (accepted _ _ _); [reflexivity|]. rewrite firstn_length in E.
    apply IH; auto; rewrite skipn_length; lia.
Qed.

Lemma draw_step : forall k lane rest, 2 <= k -> length lane = width k ->
  draw k (lane ++ rest) = if accepted (lanes_of (width k)) k (integer lane)
    then Some (value k (integer lane), rest) else draw k rest.
Proof.
  intros k lane rest Hk L.
  assert (D : forall tape, draw k tape = read (length tape) (width k) k tape).
  { intros tape. unfold draw. unfold width. destruct (Nat.leb_spec k 1); [lia|].
    destruct (k <=? 2 ^ 6); [reflexivity|]. destruct (k <=? 2 ^ 14); reflexivity. }
  assert (W : 1 <= width k).
  { unfold width. destruct (Nat.leb_spec k 1); [lia|]. destruct (k <=? 2 ^ 6); [lia|].
    destruct (k <=? 2 ^ 14); lia. }
  rewrite !D. rewrite app_length, L. destruct (width k) as [|w] eqn:E; [lia|].
  cbn [Nat.add read]. rewrite take_app by assumption. destruct (accepted _ _ _); [reflexivity|].
  apply read_fuel; lia.
Qed.

Lemma draw_short : forall k tape, 2 <= k -> length tape < width k -> draw k tape = None.
Proof.
  intros k tape Hk L. unfold draw. destruct (width k) as [|w] eqn:E; [lia|].
  assert (T : take (S w) tape = None).
  { unfold take. rewrite firstn_length. destruct (Nat.eqb_spec (min (S w) (length tape)) (S w)); [lia|reflexivity]. }
  destruct (length tape); [reflexivity|]. cbn [read]. rewrite T. reflexivity.
Qed.

Lemma width_positive : forall k, 2 <= k -> 1 <= width k.
Proof.
  intros k Hk. unfold width. destruct (Nat.leb_spec k 1); [lia|]. destruct (k <=? 2 ^ 6); [lia|].
  destruct (k <=? 2 ^ 14); lia.
Qed.

Lemma draw_one : forall tape, draw 1 tape = Some (1, tape).
Proof.
  reflexivity.
Qed.

(** Tapes by their first lane, for any property of the draw. *)
Lemma tally_draw : forall k (p : option (nat * list nat) -> bool) r, 2 <= k ->
  tally (fun t => p (draw k t)) (width k + r)
  = sum (map (fun x => if accepted (lanes_of (width k)) k x then tally (fun rest => p (Some (value k x, rest))) r
                       else tally (fun t => p (draw k t)) r) (seq 0 (lanes_of (width k)))).
Proof.
  intros k p r Hk. rewrite tally_split. unfold lanes_of at 2. rewrite <- sum_integers.
  apply sum_ext. intros lane Hl. destruct (lanes_in 256 _ _ Hl) as (L & _).
  destruct (accepted (lanes_of (width k)) k (integer lane)) eqn:A; apply tally_ext; intros rest _;
    rewrite draw_step by assumption; rewrite A; reflexivity.
Qed.

(** ** The draws of tapes that do not run out are uniform *)

(** Does the tape give these draws? *)
Definition gives (ks vs : list nat) (tape : list nat) : bool :=
  match draws ks tape with Some (us, _) => same us vs | None => false end.

Lemma gives_draw : forall k ks v vs tape, gives (k :: ks) (v :: vs) tape
  = match draw k tape with Some (u, rest) => (u =? v) && gives ks vs rest | None => false end.
Proof.
  intros. unfold gives. cbn [draws]. destruct (draw k tape) as [(u, rest)|]; [|reflexivity].
  destruct (draws ks rest) as [(us, r)|]; [reflexivity|]. rewrite andb_false_r. reflexivity.
Qed.

Lemma gives_step : forall k ks v vs r, 2 <= k -> 1 <= v <= k ->
  tally (gives (k :: ks) (v :: vs)) (width k + r)
  = lanes_of (width k) / k * tally (gives ks vs) r
    + (lanes_of (width k) - limit (lanes_of (width k)) k) * tally (gives (k :: ks) (v :: vs)) r.
Proof.
  intros k ks v vs r Hk Hv. set (B := lanes_of (width k)).
  set (p := fun d : option (nat * list nat) =>
    match d with Some (u, rest) => (u =? v) && gives ks vs rest | None => false end).
  assert (E : forall n, tally (gives (k :: ks) (v :: vs)) n = tally (fun t => p (draw k t)) n).
  { intros n. apply tally_ext. intros t _. apply gives_draw. }
  rewrite !E, tally_draw by assumption. fold B. set (R := tally (fun t => p (draw k t)) r).
  rewrite <- (draw_uniform B k v Hv), <- (rejected_count B k) by lia. unfold count.
  induction (seq 0 B) as [|x l IH]; [reflexivity|]. cbn [map sum fold_right filter]. fold (sum (map
    (fun x => if accepted B k x then tally (fun rest => p (Some (value k x, rest))) r else R) l)). rewrite IH.
  destruct (accepted B k x); cbn [andb negb length].
  - unfold p at 1. destruct (value k x =? v); cbn [andb length].
    + replace (tally (fun rest => gives ks vs rest) r) with (tally (gives ks vs) r) by reflexivity. lia.
    + rewrite tally_none. lia.
  - lia.
Qed.

(** Each possible list of draws comes from the same number of tapes, at every length. *)
Theorem tapes_uniform : forall ks us vs length,
  Forall2 (fun k u => 1 <= u <= k) ks us -> Forall2 (fun k v => 1 <= v <= k) ks vs ->
  tally (gives ks us) length = tally (gives ks vs) length.
Proof.
  induction ks as [|k ks IH]; intros us vs n Hu Hv; inversion Hu; inversion Hv; subst; [reflexivity|].
  destruct (Nat.eq_dec k 1) as [->|K].
  - rewrite (tally_ext (gives (1 :: ks) _) (gives ks l')), (tally_ext (gives (1 :: ks) _) (gives ks l'0)).
    + apply IH; assumption.
    + intros t _. rewrite gives_draw, draw_one. replace y0 with 1 by lia. reflexivity.
    + intros t _. rewrite gives_draw, draw_one. replace y with 1 by lia. reflexivity.
  - induction n as [n IHn] using lt_wf_ind. assert (W := width_positive k). destruct (Nat.lt_ge_cases n (width k)).
    + apply tally_ext. intros t L. rewrite !gives_draw, draw_short by lia. reflexivity.
    + replace n with (width k + (n - width k)) by lia. rewrite !gives_step by lia.
      rewrite (IH l' l'0) by assumption. rewrite (IHn (n - width k)) by lia. reflexivity.
Qed.

Lemma fit_down : forall m n ds, m <= n -> fit n ds -> length ds = m -> Forall2 (fun k v => 1 <= v <= k) (down n m) ds.
Proof.
  induction m as [|m IH]; intros n [|d ds] Hm F L; try discriminate; cbn [down]; constructor.
  - apply F.
  - injection L as L. apply IH; auto; [lia|apply F].
Qed.

Definition deals (n m : nat) (t : list nat) (tape : list nat) : bool :=
  match cards n m tape with Some (a, _) => same a t | None => false end.

(** Each order of m of n cards comes from the same number of tapes, at every length: uniform bytes give a uniform order,
    given that they do not run out. *)
Theorem cards_uniform : forall n m t u length, m <= n -> order n m t -> order n m u ->
  tally (deals n m t) length = tally (deals n m u) length.
Proof.
  intros n m t u len Hm Ht Hu.
  assert (K : forall t, order n m t -> exists ds, Forall2 (fun k v => 1 <= v <= k) (down n m) ds /\
    tally (deals n m t) len = tally (gives (down n m) ds) len).
  { clear t u Ht Hu. intros t Ht. destruct (fisher_yates n m t Ht) as (ds & (F & L & E) & U). exists ds.
    split; [apply fit_down; assumption|]. apply tally_ext. intros tape _. unfold deals, gives, cards.
    destruct (draws (down n m) tape) as [(vs, rest)|] eqn:D; [|reflexivity].
    destruct (draws_fit m n tape vs rest Hm D) as (Fv & Lv). rewrite (sparse_dense n) by assumption.
    destruct (same vs ds) eqn:S.
    - apply same_eq in S. subst vs. apply same_eq. assumption.
    - destruct (same (shuffle n vs) t) eqn:S2; [|reflexivity]. apply same_eq in S2.
      assert (G : ds = vs) by (apply U; auto). subst vs. assert (same ds ds = true) by (apply same_eq; reflexivity).
      congruence. }
  destruct (K t Ht) as (ds & F & ->). destruct (K u Hu) as (es & G & ->). apply tapes_uniform; assumption.
Qed.

(** ** How many tapes run out *)

Definition out (ks : list nat) (tape : list nat) : bool := match draws ks tape with Some _ => false | None => true end.

Lemma out_draw : forall k ks tape, out (k :: ks) tape
  = match draw k tape with Some (_, rest) => out ks rest | None => true end.
Proof.
  intros. unfold out. cbn [draws]. destruct (draw k tape) as [(u, rest)|]; [|reflexivity].
  destruct (draws ks rest) as [(us, r)|]; reflexivity.
Qed.

Lemma out_step : forall k ks r, 2 <= k ->
  tally (out (k :: ks)) (width k + r)
  = limit (lanes_of (width k)) k * tally (out ks) r
    + (lanes_of (width k) - limit (lanes_of (width k)) k) * tally (out (k :: ks)) r.
Proof.
  intros k ks r Hk. set (B := lanes_of (width k)).
  set (p := fun d : option (nat * list nat) => match d with Some (_, rest) => out ks rest | None => true end).
  assert (E : forall n, tally (out (k :: ks)) n = tally (fun t => p (draw k t)) n).
  { intros n. apply tally_ext. intros t _. apply out_draw. }
  rewrite !E, tally_draw by assumption. fold B.
  rewrite (sum_ext _ _ (fun x => if accepted B k x then tally (out ks) r else tally (fun t => p (draw k t)) r))
    by reflexivity.
  rewrite (sum_if (accepted B k)).
  pose proof (accepted_count B k) as A. pose proof (rejected_count B k) as R. unfold count in A, R.
  rewrite A, R by lia. reflexivity.
Qed.

(** S of section 2.3: the bytes that the draws need if no lane is rejected. *)
Definition need (ks : list nat) : nat := fold_right (fun k n => width k + n) 0 ks.

(** W of section 2.3, and 1 if no draw needs a byte. *)
Definition widest (ks : list nat) : nat := max 1 (fold_right (fun k n => max (width k) n) 0 ks).

Definition drawable (k : nat) : Prop := 1 <= k <= 2 ^ 30.

(** Two spare bits of each lane: at most one of five is rejected. *)
Lemma spare : forall k, 2 <= k <= 2 ^ 30 -> 4 * k <= lanes_of (width k).
Proof.
  intros k Hk. assert (P : forall w, lanes_of w = 2 ^ (8 * w)).
  { intros w. rewrite Nat.pow_mul_r. reflexivity. }
  rewrite P. unfold width. destruct (Nat.leb_spec k 1); [lia|].
  assert (Q : forall a, 4 * 2 ^ a = 2 ^ (2 + a)) by (intros; rewrite Nat.pow_add_r; reflexivity).
  destruct (Nat.leb_spec k (2 ^ 6)) as [H6|_]; [|destruct (Nat.leb_spec k (2 ^ 14)) as [H14|_]].
  - change (8 * 1) with (2 + 6). rewrite <- Q. apply Nat.mul_le_mono_l. assumption.
  - change (8 * 2) with (2 + 14). rewrite <- Q. apply Nat.mul_le_mono_l. assumption.
  - change (8 * 4) with (2 + 30). rewrite <- Q. apply Nat.mul_le_mono_l. apply Hk.
Qed.

Section Bound.

(** The base of the bound is a / b, to be 19/17 to the power e, such that e times a width is at most 4. *)
Variable e : nat.
Let a := 19 ^ e.
Let b := 17 ^ e.

Lemma a_b : b <= a.
Proof.
  apply Nat.pow_le_mono_l. lia.
Qed.

Lemma b_positive : 1 <= b.
Proof.
  assert (b <> 0) by (apply Nat.pow_nonzero; lia). lia.
Qed.

(** What makes one draw's bound work: p² + p is at most 4 for p = (19/17)^j, if j is at most 4. *)
Lemma small_base : forall j, j <= 4 -> 19 ^ j * (19 ^ j + 17 ^ j) <= 4 * (17 ^ j * 17 ^ j).
Proof.
  intros j Hj. destruct j as [|[|[|[|[|j]]]]]; [| | | | |lia]; apply Nat2Z.inj_le;
    rewrite ?Nat2Z.inj_mul, ?Nat2Z.inj_add, ?Nat2Z.inj_mul, ?Nat2Z.inj_pow; vm_compute; discriminate.
Qed.

Lemma one_draw : forall A C p q, q <= p -> 4 * C <= A -> p * (p + q) <= 4 * (q * q) ->
  A * (q * q * q) + C * (p * p * p) <= (A + C) * (p * (q * q)).
Proof.
  intros A C p q Hq HC H. assert (exists d, p = q + d) as (d & ->) by (exists (p - q); lia).
  assert (C * (d * ((q + d) * (q + d + q))) <= A * (d * (q * q))) by
    (transitivity (C * (d * (4 * (q * q)))); [repeat apply Nat.mul_le_mono_l; assumption|];
     replace (C * (d * (4 * (q * q)))) with (4 * C * (d * (q * q))) by ring; apply Nat.mul_le_mono_r; assumption).
  nia.
Qed.

Theorem chernoff : forall ks r, Forall drawable ks -> e * widest ks <= 4 ->
  tally (out ks) r * (a ^ (2 * r) * b ^ (3 * need ks)) <= 256 ^ r * (a ^ (3 * need ks) * b ^ (2 * r)).
Proof.
  induction ks as [|k ks IH]; intros r D W.
  - unfold out. cbn [draws]. rewrite tally_none. lia.
  - inversion D as [|x y Hk Dk]; subst. unfold drawable in Hk.
    assert (Wk : e * width k <= 4 /\ e * widest ks <= 4) by (unfold widest in *; cbn [fold_right] in W; nia).
    destruct Wk as (Wk & Ws).
    destruct (Nat.eq_dec k 1) as [->|K].
    + rewrite (tally_ext _ (out ks)) by (intros; rewrite out_draw, draw_one; reflexivity). apply IH; assumption.
    + cbn [need fold_right]. fold (need ks). assert (P := width_positive k).
      induction r as [r IHr] using lt_wf_ind. destruct (Nat.lt_ge_cases r (width k)) as [S|S].
      * apply Nat.mul_le_mono; [apply tally_le|].
        set (s := 3 * (width k + need ks)). assert (2 * r <= s) by (unfold s; lia).
        replace s with (2 * r + (s - 2 * r)) by lia. rewrite !Nat.pow_add_r.
        assert (b ^ (s - 2 * r) <= a ^ (s - 2 * r)) by (apply Nat.pow_le_mono_l, a_b).
        replace (a ^ (2 * r) * (b ^ (2 * r) * b ^ (s - 2 * r)))
          with (a ^ (2 * r) * b ^ (2 * r) * b ^ (s - 2 * r)) by ring.
        replace (a ^ (2 * r) * a ^ (s - 2 * r) * b ^ (2 * r))
          with (a ^ (2 * r) * b ^ (2 * r) * a ^ (s - 2 * r)) by ring.
        apply Nat.mul_le_mono_l. assumption.
      * set (t := r - width k) in *. assert (Et : r = width k + t) by (unfold t; lia).
        assert (I1 := IH t Dk Ws). assert (I2 := IHr t). clear IH IHr.
        rewrite Et, out_step by lia.
        set (B := lanes_of (width k)) in *. set (A := limit B k). set (C := B - A).
        assert (HB : B = A + C) by (assert (A <= B) by (apply limit_le; lia); unfold C; lia).
        assert (HC : 4 * C <= A).
        { pose proof (few_rejected B k) as F. fold A C in F. assert (4 * C < A); [|lia]. apply F; [lia|].
          apply spare. lia. }
        replace (256 ^ (width k + t)) with (B * 256 ^ t) by (rewrite Nat.pow_add_r; reflexivity).
        specialize (I2 ltac:(lia)).
        set (p := a ^ width k) in *. set (q := b ^ width k) in *.
        assert (Hq : q <= p) by (apply Nat.pow_le_mono_l, a_b).
        assert (Hp : p * (p + q) <= 4 * (q * q)).
        { unfold p, q, a, b. rewrite <- !Nat.pow_mul_r. apply small_base. assumption. }
        assert (X := one_draw A C p q Hq HC Hp). rewrite <- HB in X.
        assert (Pa : forall c n m, c ^ (n * (width k + m)) = (c ^ width k) ^ n * c ^ (n * m)).
        { intros c n m. rewrite Nat.mul_add_distr_l, Nat.pow_add_r. f_equal.
          rewrite <- Nat.pow_mul_r. f_equal. lia. }
        rewrite !Pa in *. fold p q in I2 |- *.
        set (T1 := tally (out ks) t) in *. set (T2 := tally (out (k :: ks)) t) in *.
        set (M := 256 ^ t) in *.
        set (x := a ^ (2 * t)) in *. set (y := b ^ (3 * need ks)) in *.
        set (u := a ^ (3 * need ks)) in *. set (v := b ^ (2 * t)) in *.
        replace (p ^ 2) with (p * p) by (cbn; ring). replace (q ^ 2) with (q * q) by (cbn; ring).
        replace (p ^ 3) with (p * p * p) in * by (cbn; ring). replace (q ^ 3) with (q * q * q) in * by (cbn; ring).
        set (G := M * (u * v)) in *.
        transitivity (p * p * (A * (q * q * q) * (T1 * (x * y)) + C * (T2 * (x * (q * q * q * y)))));
          [apply Nat.eq_le_incl; ring|].
        transitivity (p * p * (A * (q * q * q) * G + C * (M * (p * p * p * u * v)))).
        { apply Nat.mul_le_mono_l, Nat.add_le_mono; apply Nat.mul_le_mono_l; assumption. }
        transitivity (p * p * (G * (A * (q * q * q) + C * (p * p * p)))); [apply Nat.eq_le_incl; unfold G; ring|].
        transitivity (p * p * (G * (B * (p * (q * q))))); [repeat apply Nat.mul_le_mono_l; assumption|].
        apply Nat.eq_le_incl. unfold G. ring.
Qed.

End Bound.

(** More than 66 bits are in 416 factors of 19/17. *)
Lemma enough : (2 ^ 66 + 1) * 17 ^ 416 <= 19 ^ 416.
Proof.
  apply Nat2Z.inj_le. rewrite Nat2Z.inj_mul, Nat2Z.inj_add, !Nat2Z.inj_pow. vm_compute. discriminate.
Qed.

Lemma cancel : forall T M f g h i p q z, f <> 0 -> g <> 0 -> h <> 0 -> q <> 0 -> i <= h ->
  T * (f * (p * h) * g) <= M * (f * (g * (q * i))) -> z * q <= p -> z * T <= M.
Proof.
  intros T M f g h i p q z Zf Zg Zh Zq Hi X R.
  apply (Nat.mul_le_mono_pos_r _ _ (q * (h * (f * g)))); [nia|].
  transitivity (T * (p * (h * (f * g)))).
  { replace (z * T * (q * (h * (f * g)))) with (z * q * (T * (h * (f * g)))) by ring.
    replace (T * (p * (h * (f * g)))) with (p * (T * (h * (f * g)))) by ring.
    apply Nat.mul_le_mono_r. assumption. }
  replace (T * (p * (h * (f * g)))) with (T * (f * (p * h) * g)) by ring.
  apply (Nat.le_trans _ _ _ X).
  replace (M * (f * (g * (q * i)))) with (M * (q * (f * g)) * i) by ring.
  replace (M * (q * (h * (f * g)))) with (M * (q * (f * g)) * h) by ring.
  apply Nat.mul_le_mono_l. assumption.
Qed.

(** The same for any number z that satisfies the hypothesis. *)
Lemma run_out_below : forall z w ks n, z * 17 ^ w <= 19 ^ w -> w = 104 * 4 ->
  Forall drawable ks -> tape_length ks <= n -> z * tally (out ks) n <= 256 ^ n.
Proof.
  intros z w ks n R Ew D H.
  assert (W : widest ks = 1 \/ widest ks = 2 \/ widest ks = 4).
  { clear. unfold widest. induction ks as [|k ks IH]; [left; reflexivity|]. cbn [fold_right]. unfold width at 1 3 5.
    destruct (k <=? 1); [|destruct (k <=? 2 ^ 6); [|destruct (k <=? 2 ^ 14)]]; lia. }
  assert (E : exists e, 1 <= e /\ e * widest ks = 4).
  { destruct W as [-> | [-> | ->]]; [exists 4|exists 2|exists 1]; lia. }
  destruct E as (e & He & Ee). assert (X := chernoff e ks n D (Nat.eq_le_incl _ _ Ee)).
  assert (Hl : 3 * need ks + 104 * widest ks <= 2 * n).
  { unfold tape_length in H. fold (need ks) in H. unfold widest.
    set (v := fold_right (fun k n => max (width k) n) 0 ks) in *.
    pose proof (Nat.div_mod (need ks + 1) 2). pose proof (Nat.mod_upper_bound (need ks + 1) 2). lia. }
  set (s := 3 * need ks) in *. set (d := 2 * n - s - 104 * widest ks).
  assert (P : forall c, (c ^ e) ^ (2 * n) = (c ^ e) ^ s * (c ^ w * (c ^ e) ^ d)).
  { intros c. replace (2 * n) with (s + (104 * widest ks + d)) by (unfold d; lia). rewrite !Nat.pow_add_r.
    do 2 f_equal. rewrite <- Nat.pow_mul_r. f_equal. lia. }
  rewrite !P in X. assert (Z : forall c x, c <> 0 -> (c ^ e) ^ x <> 0).
  { intros c x Hc. apply Nat.pow_nonzero, Nat.pow_nonzero. assumption. }
  apply (cancel _ _ ((19 ^ e) ^ s) ((17 ^ e) ^ s) ((19 ^ e) ^ d) ((17 ^ e) ^ d) (19 ^ w) (17 ^ w)); auto.
  - apply Nat.pow_nonzero. lia.
  - apply Nat.pow_le_mono_l, Nat.pow_le_mono_l. lia.
Qed.

(** Of the tapes of the length of section 2.3, or of any greater length, fewer than one in 2^66 runs out, for any
    draws. *)
Theorem run_out : forall ks length, Forall drawable ks -> tape_length ks <= length ->
  2 ^ 66 * tally (out ks) length < 256 ^ length.
Proof.
  intros ks n D H. assert (X := run_out_below (2 ^ 66 + 1) 416 ks n enough eq_refl D H).
  rewrite Nat.mul_add_distr_r in X. assert (256 ^ n <> 0) by (apply Nat.pow_nonzero; lia).
  destruct (Nat.eq_dec (tally (out ks) n) 0) as [E|E]; [rewrite E, Nat.mul_0_r; lia|].
  set (x := 2 ^ 66 * tally (out ks) n) in *. lia.
Qed.
